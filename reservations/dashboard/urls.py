"""Paths of the reservations' pages, below /dashboard."""

from django.urls import path

from reservations.dashboard import (
    cancellation,
    day,
    guests,
    holds,
    new_reservation,
    overview,
    reschedule,
    reservation,
)
from reservations.dashboard.setup import branding, hours, views

urlpatterns = [
    path("<slug:venue>/reservations", day.day, name="reservation-day"),
    path("<slug:venue>/reservations/live", day.live, name="reservation-live"),
    path("<slug:venue>/reservations/today", day.show_tile, name="covers-today"),
    path("<slug:venue>/reservations/week", overview.show_week, name="covers-week"),
    path("<slug:venue>/reservations/new", new_reservation.new, name="reservation-new"),
    path("<slug:venue>/reservations/new/times", new_reservation.times, name="reservation-times"),
    path("<slug:venue>/reservations/walk-in", reservation.walk_in, name="walk-in"),
    path("<slug:venue>/reservations/waiting", day.waitlist, name="waitlist"),
    path("<slug:venue>/reservations/new/guests", guests.suggest, name="guest-suggest"),
    path("<slug:venue>/reservations/waiting/add", day.add_to_waitlist, name="waitlist-add"),
    path("<slug:venue>/reservations/holds/<slug:hold>/release", holds.release, name="hold-release"),
    path("<slug:venue>/reservations/<slug:reservation>", reservation.reservation, name="reservation"),
    path("<slug:venue>/reservations/<slug:reservation>/edit", reservation.edit, name="reservation-edit"),
    path("<slug:venue>/reservations/<slug:reservation>/move", reschedule.move, name="reservation-move"),
    path("<slug:venue>/reservations/<slug:reservation>/withdraw-mail", reservation.withdraw, name="mail-withdraw"),
    path("<slug:venue>/reservations/<slug:reservation>/restore", cancellation.restore, name="reservation-restore"),
    path("<slug:venue>/reservations/<slug:reservation>/<slug:name>", reservation.step, name="reservation-step"),
    path("<slug:venue>/guests", guests.guests, name="guests"),
    path("<slug:venue>/guests/<slug:reservation>", guests.guest, name="guest-of-venue"),
    path("<slug:venue>/guests/<slug:reservation>/merge", guests.merge, name="guest-merge"),
    path("<slug:venue>/guests/<slug:reservation>/split", guests.split, name="guest-split"),
    path("<slug:venue>/guests/<slug:reservation>/erase", guests.erase, name="guest-erase"),
    path("<slug:venue>/guests/<slug:reservation>/download", guests.download, name="guest-download"),
    path("<slug:venue>/settings/tables", views.tables, name="setup-tables"),
    path("<slug:venue>/settings/hours", hours.hours, name="setup-hours"),
    path("<slug:venue>/settings/appearance", branding.edit, name="setup-branding"),
    path("<slug:venue>/settings/terms", views.terms, name="setup-terms"),
]
for kind in views.KINDS:
    folder = f"<slug:venue>/settings/{kind}"
    urlpatterns += [
        path(f"{folder}/new", views.edit, {"kind": kind}, name=f"setup-new-{kind}"),
        path(f"{folder}/<uuid:key>", views.edit, {"kind": kind}, name=f"setup-edit-{kind}"),
        path(f"{folder}/<uuid:key>/remove", views.remove, {"kind": kind}, name=f"setup-remove-{kind}"),
    ]
