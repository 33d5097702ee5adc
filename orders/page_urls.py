"""Paths of the orders' pages, below /dashboard."""

from django.urls import path

from accounts.pages.soon import soon

urlpatterns = [
    path("<slug:venue>/board", soon, name="order-board"),
    path("<slug:venue>/orders", soon, name="orders"),
    path("<slug:venue>/menu", soon, name="menu"),
]
