"""Paths of the page on which guests order, below /order. Each is served with and without a slash at its end."""

from django.urls import re_path

from orders.ordering_page import views

VENUE = r"^(?P<venue>[^/]+)"

urlpatterns = [
    re_path(rf"{VENUE}/?$", views.order, name="ordering"),
    re_path(rf"{VENUE}/placed/(?P<token>[^/]+)/?$", views.show_placed, name="ordering-placed"),
]
