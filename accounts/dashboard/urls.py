"""Paths of the accounts' pages, below /dashboard."""

from django.urls import path

from accounts.dashboard import (
    account,
    api_keys,
    api_usage,
    demo_data,
    invitation,
    overview,
    profile,
    request_log,
    team,
)
from accounts.dashboard import venue as venues
from accounts.dashboard.webhooks import deliveries, endpoints

urlpatterns = [
    path("", overview.dashboard, name="dashboard"),
    path("you", profile.profile, name="profile"),
    path("you/teams/<int:membership>/leave", profile.leave_team, name="team-leave"),
    path("you/delete", profile.delete_user, name="profile-delete"),
    path("invitation/<str:token>", invitation.show_invitation, name="invitation"),
    path("<slug:venue>", overview.overview, name="overview"),
    path("<slug:venue>/welcome", overview.welcome, name="welcome"),
    path("<slug:venue>/demo-data", demo_data.fill, name="demo-data-fill"),
    path("<slug:venue>/demo-data/remove", demo_data.remove, name="demo-data-remove"),
    path("<slug:venue>/keys", api_keys.list_keys, name="keys"),
    path("<slug:venue>/keys/new", api_keys.create_key, name="key-new"),
    path("<slug:venue>/keys/<slug:key>", api_keys.show_new_key, name="key-shown"),
    path("<slug:venue>/keys/<slug:key>/rotate", api_keys.rotate_key, name="key-rotate"),
    path("<slug:venue>/keys/<slug:key>/revoke", api_keys.revoke_key, name="key-revoke"),
    path("<slug:venue>/usage", api_usage.show_usage, name="api-usage"),
    path("<slug:venue>/requests", request_log.list_requests, name="requests"),
    path("<slug:venue>/requests/<slug:call>", request_log.show_request, name="request"),
    path("<slug:venue>/webhooks", endpoints.list_endpoints, name="webhooks"),
    path("<slug:venue>/webhooks/new", endpoints.create_endpoint, name="webhook-new"),
    path("<slug:venue>/webhooks/<slug:endpoint>", deliveries.show_endpoint, name="webhook"),
    path("<slug:venue>/webhooks/<slug:endpoint>/edit", endpoints.edit_endpoint, name="webhook-edit"),
    path("<slug:venue>/webhooks/<slug:endpoint>/secret", endpoints.rotate_secret, name="webhook-rotate"),
    path("<slug:venue>/webhooks/<slug:endpoint>/switch", endpoints.set_enabled, name="webhook-enabled"),
    path("<slug:venue>/webhooks/<slug:endpoint>/test", endpoints.send_test_event, name="webhook-test"),
    path("<slug:venue>/webhooks/<slug:endpoint>/failed", endpoints.resend_failed, name="webhook-resend-failed"),
    path("<slug:venue>/webhooks/<slug:endpoint>/remove", endpoints.delete_endpoint, name="webhook-remove"),
    path("<slug:venue>/webhooks/<slug:endpoint>/<uuid:delivery>", deliveries.show_delivery, name="delivery"),
    path(
        "<slug:venue>/webhooks/<slug:endpoint>/<uuid:delivery>/again",
        deliveries.resend,
        name="delivery-resend",
    ),
    path("<slug:venue>/settings", venues.show, name="venue-settings"),
    path("<slug:venue>/settings/save/<slug:part>", venues.save_section, name="venue-save"),
    path("<slug:venue>/team", team.list_team, name="team"),
    path("<slug:venue>/team/<int:membership>", team.edit_member, name="team-member"),
    path("<slug:venue>/team/<int:membership>/remove", team.remove_member, name="team-remove"),
    path("<slug:venue>/team/invitations/<slug:invitation>/again", team.resend_invitation, name="invitation-resend"),
    path(
        "<slug:venue>/team/invitations/<slug:invitation>/withdraw",
        team.withdraw_invitation,
        name="invitation-withdraw",
    ),
    path("<slug:venue>/account", account.show, name="account"),
    path("<slug:venue>/account/name", account.rename, name="account-rename"),
    path("<slug:venue>/account/venues", account.add_venue, name="account-venue"),
    path("<slug:venue>/account/file", account.export_data, name="account-export"),
    path("<slug:venue>/account/close", account.close, name="account-close"),
]
