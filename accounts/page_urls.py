"""Paths of the accounts' pages, below /dashboard."""

from django.urls import path

from accounts.pages import overview
from accounts.pages.soon import soon

urlpatterns = [
    path("", overview.dashboard, name="dashboard"),
    path("<slug:venue>", overview.overview, name="overview"),
    path("<slug:venue>/keys", soon, name="keys"),
    path("<slug:venue>/requests", soon, name="requests"),
    path("<slug:venue>/webhooks", soon, name="webhooks"),
    path("<slug:venue>/settings", soon, name="venue-settings"),
    path("<slug:venue>/team", soon, name="team"),
    path("<slug:venue>/account", soon, name="account"),
]
