"""Paths of the reservations' pages, below /dashboard."""

from django.urls import path

from accounts.pages.soon import soon
from reservations.pages import setup, setup_hours, setup_tables

urlpatterns = [
    path("<slug:venue>/reservations", soon, name="reservation-day"),
    path("<slug:venue>/guests", soon, name="guests"),
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
