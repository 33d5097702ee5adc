"""Paths of the payments' pages, below /dashboard."""

from django.urls import path

from accounts.pages.soon import soon

urlpatterns = [
    path("<slug:venue>/data", soon, name="data-service"),
]
