"""Paths below those of the ordering page (orders.ordering_page.urls)."""

from django.urls import re_path

from catalogue.order_payments import page

urlpatterns = [
    re_path(r"^(?P<venue>[^/]+)/placed/(?P<token>[^/]+)/pay/?$", page.pay, name="order-payment"),
]
