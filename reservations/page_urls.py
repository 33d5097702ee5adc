"""Paths of the reservations' pages, below /dashboard."""

from django.urls import path

from accounts.pages.overview import FIRST_STEPS
from reservations.pages import (
    day,
    first_step,
    guests,
    moving,
    reservation,
    setup,
    setup_hours,
    setup_tables,
    taking,
    today,
    waitlist,
)

FIRST_STEPS.append(first_step.tables)

urlpatterns = [
    path("<slug:venue>/reservations", day.day, name="reservation-day"),
    path("<slug:venue>/reservations/live", day.live, name="reservation-live"),
    path("<slug:venue>/reservations/today", today.covers_today, name="covers-today"),
    path("<slug:venue>/reservations/new", taking.new, name="reservation-new"),
    path("<slug:venue>/reservations/walk-in", taking.walk_in, name="walk-in"),
    path("<slug:venue>/reservations/waiting", waitlist.waitlist, name="waitlist"),
    path("<slug:venue>/reservations/<slug:reservation>", reservation.reservation, name="reservation"),
    path("<slug:venue>/reservations/<slug:reservation>/edit", reservation.edit, name="reservation-edit"),
    path("<slug:venue>/reservations/<slug:reservation>/move", moving.move, name="reservation-move"),
    path("<slug:venue>/reservations/<slug:reservation>/<slug:name>", reservation.step, name="reservation-step"),
    path("<slug:venue>/guests", guests.guests, name="guests"),
    path("<slug:venue>/guests/<slug:reservation>", guests.guest, name="guest-of-venue"),
    path("<slug:venue>/guests/<slug:reservation>/merge", guests.merge, name="guest-merge"),
    path("<slug:venue>/guests/<slug:reservation>/split", guests.split, name="guest-split"),
    path("<slug:venue>/guests/<slug:reservation>/erase", guests.erase, name="guest-erase"),
    path("<slug:venue>/guests/<slug:reservation>/download", guests.download, name="guest-download"),
    path("<slug:venue>/settings/tables", setup_tables.tables, name="setup-tables"),
    path("<slug:venue>/settings/hours", setup_hours.hours, name="setup-hours"),
]
for kind in setup.KINDS:
    urlpatterns += [
        path(f"<slug:venue>/settings/{kind}/new", setup.edit, {"kind": kind}, name=f"setup-new-{kind}"),
        path(f"<slug:venue>/settings/{kind}/<uuid:key>", setup.edit, {"kind": kind}, name=f"setup-edit-{kind}"),
        path(
            f"<slug:venue>/settings/{kind}/<uuid:key>/remove",
            setup.remove,
            {"kind": kind},
            name=f"setup-remove-{kind}",
        ),
    ]
