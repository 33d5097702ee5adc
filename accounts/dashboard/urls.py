"""Paths of the accounts' pages, below /dashboard."""

from django.urls import path

from accounts.dashboard import account, api_keys, invitation, onboarding, overview, profile, request_log, team
from accounts.dashboard import venue as venues
from accounts.dashboard.webhooks import deliveries, endpoints

urlpatterns = [
    path("", overview.dashboard, name="dashboard"),
    path("you", profile.person, name="person"),
    path("you/teams/<int:membership>/leave", profile.leave, name="person-leave"),
    path("you/delete", profile.forget, name="person-forget"),
    path("invitation/<str:token>", invitation.invitation, name="invitation"),
    path("<slug:venue>", overview.overview, name="overview"),
    path("<slug:venue>/welcome", onboarding.welcome, name="welcome"),
    path("<slug:venue>/keys", api_keys.listed, name="keys"),
    path("<slug:venue>/keys/new", api_keys.add, name="key-new"),
    path("<slug:venue>/keys/<slug:key>", api_keys.show, name="key-shown"),
    path("<slug:venue>/keys/<slug:key>/rotate", api_keys.rotate, name="key-rotate"),
    path("<slug:venue>/keys/<slug:key>/revoke", api_keys.revoke, name="key-revoke"),
    path("<slug:venue>/requests", request_log.listed, name="requests"),
    path("<slug:venue>/requests/<slug:call>", request_log.show, name="request"),
    path("<slug:venue>/webhooks", endpoints.listed, name="webhooks"),
    path("<slug:venue>/webhooks/new", endpoints.add, name="webhook-new"),
    path("<slug:venue>/webhooks/<slug:endpoint>", deliveries.show, name="webhook"),
    path("<slug:venue>/webhooks/<slug:endpoint>/edit", endpoints.edit, name="webhook-edit"),
    path("<slug:venue>/webhooks/<slug:endpoint>/secret", endpoints.rotate, name="webhook-rotate"),
    path("<slug:venue>/webhooks/<slug:endpoint>/switch", endpoints.switch, name="webhook-switch"),
    path("<slug:venue>/webhooks/<slug:endpoint>/test", endpoints.ping, name="webhook-ping"),
    path("<slug:venue>/webhooks/<slug:endpoint>/failed", endpoints.replay_failed, name="webhook-replay-failed"),
    path("<slug:venue>/webhooks/<slug:endpoint>/remove", endpoints.remove, name="webhook-remove"),
    path("<slug:venue>/webhooks/<slug:endpoint>/<uuid:delivery>", deliveries.detail, name="delivery"),
    path(
        "<slug:venue>/webhooks/<slug:endpoint>/<uuid:delivery>/again",
        deliveries.replay,
        name="delivery-replay",
    ),
    path("<slug:venue>/settings", venues.show, name="venue-settings"),
    path("<slug:venue>/settings/save/<slug:part>", venues.store, name="venue-store"),
    path("<slug:venue>/team", team.listed, name="team"),
    path("<slug:venue>/team/<int:membership>", team.member, name="team-member"),
    path("<slug:venue>/team/<int:membership>/remove", team.remove, name="team-remove"),
    path("<slug:venue>/team/invitations/<slug:invitation>/again", team.resend, name="invitation-resend"),
    path("<slug:venue>/team/invitations/<slug:invitation>/withdraw", team.withdraw, name="invitation-withdraw"),
    path("<slug:venue>/account", account.show, name="account"),
    path("<slug:venue>/account/name", account.rename, name="account-rename"),
    path("<slug:venue>/account/venues", account.add_venue, name="account-venue"),
    path("<slug:venue>/account/file", account.take_out, name="account-file"),
    path("<slug:venue>/account/close", account.close, name="account-close"),
]
