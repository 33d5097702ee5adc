"""Paths of the reservations' pages, below /dashboard."""

from django.urls import path

from accounts.pages.soon import soon

urlpatterns = [
    path("<slug:venue>/reservations", soon, name="reservation-day"),
    path("<slug:venue>/guests", soon, name="guests"),
]
