"""Paths of the accounts' pages, below /dashboard."""

from django.urls import path

from accounts.pages import overview, webhook_deliveries, webhooks
from accounts.pages import venue as venues
from accounts.pages.soon import soon

urlpatterns = [
    path("", overview.dashboard, name="dashboard"),
    path("<slug:venue>", overview.overview, name="overview"),
    path("<slug:venue>/keys", soon, name="keys"),
    path("<slug:venue>/requests", soon, name="requests"),
    path("<slug:venue>/webhooks", webhooks.listed, name="webhooks"),
    path("<slug:venue>/webhooks/new", webhooks.add, name="webhook-new"),
    path("<slug:venue>/webhooks/<slug:endpoint>", webhook_deliveries.show, name="webhook"),
    path("<slug:venue>/webhooks/<slug:endpoint>/edit", webhooks.edit, name="webhook-edit"),
    path("<slug:venue>/webhooks/<slug:endpoint>/secret", webhooks.rotate, name="webhook-rotate"),
    path("<slug:venue>/webhooks/<slug:endpoint>/switch", webhooks.switch, name="webhook-switch"),
    path("<slug:venue>/webhooks/<slug:endpoint>/test", webhooks.ping, name="webhook-ping"),
    path("<slug:venue>/webhooks/<slug:endpoint>/failed", webhooks.replay_failed, name="webhook-replay-failed"),
    path("<slug:venue>/webhooks/<slug:endpoint>/remove", webhooks.remove, name="webhook-remove"),
    path("<slug:venue>/webhooks/<slug:endpoint>/<uuid:delivery>", webhook_deliveries.detail, name="delivery"),
    path(
        "<slug:venue>/webhooks/<slug:endpoint>/<uuid:delivery>/again",
        webhook_deliveries.replay,
        name="delivery-replay",
    ),
    path("<slug:venue>/settings", venues.show, name="venue-settings"),
    path("<slug:venue>/settings/save/<slug:part>", venues.store, name="venue-store"),
    path("<slug:venue>/team", soon, name="team"),
    path("<slug:venue>/account", soon, name="account"),
]
