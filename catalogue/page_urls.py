"""Paths of the catalogue's pages, below /dashboard."""

from django.urls import path

from accounts.pages.soon import soon

urlpatterns = [
    path("<slug:venue>/exports", soon, name="data-exports"),
]
