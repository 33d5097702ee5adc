"""Settings forms for tables, areas, combinations, service periods and closed days."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import Refusal
from reservations.floor import rename_table, tables
from reservations.forms import setup
from reservations.models import Area, Closure, Combination, Reservation, ServicePeriod, Table


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of row: its model, its form, and the page that lists it."""

    name: str
    label: str
    model: Any
    form: Any
    list_url: str
    tab: str
    about: str = ""


KINDS: Mapping[str, Kind] = {
    "table": Kind("table", "table", Table, setup.VenueTableForm, "setup-tables", "tables"),
    "area": Kind("area", "area", Area, setup.VenueAreaForm, "setup-tables", "tables"),
    "combination": Kind(
        "combination",
        "combination",
        Combination,
        setup.VenueCombinationForm,
        "setup-tables",
        "tables",
        "Assigned to a party when no single table is large enough and free.",
    ),
    "period": Kind(
        "period",
        "service period",
        ServicePeriod,
        setup.VenuePeriodForm,
        "setup-hours",
        "hours",
        "From the first to the last seating. If the last seating is earlier than the first, it is on the next day.",
    ),
    "closure": Kind("closure", "closed days", Closure, setup.VenueClosureForm, "setup-hours", "hours"),
}


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest, *, kind: str, key: UUID | None = None) -> HttpResponse:
    """Add or edit one row."""
    row_kind, venue = KINDS[kind], request.access.venue
    row = get_object_or_404(row_kind.model, venue=venue, pk=key) if key else None
    form = row_kind.form(request.POST if request.method == "POST" else None, instance=row, venue=venue)
    if form.is_valid() and stored(form, request):
        messages.success(request, " ".join([f"Saved: {form.instance}.", *closure_notes(form.instance)]))
        return redirect(row_kind.list_url, venue=venue.public_id)
    status = 400 if request.method == "POST" else 200
    # The stored name: the form has changed its own instance. The venue was checked above.
    saved_name = str(row_kind.model.objects.get(pk=key)) if row else ""  # nosemgrep: rows-are-found-by-their-owner
    return render(
        request,
        "reservations/setup_form.html",
        {"form": form, "kind": row_kind, "row": row, "saved_name": saved_name},
        status=status,
    )


def stored(form: Any, request: PageRequest) -> bool:
    """Save the row; return False with a form error after a concurrent change. Renames update reservations."""
    row = form.instance
    try:
        with transaction.atomic():
            if isinstance(row, Table) and not row._state.adding and "name" in form.changed_data:
                rename_table.rename(row, now=timezone.now(), actor=request.access.actor)
            else:
                form.save()
    except IntegrityError:
        form.add_error(None, "Another user has just used this name, or deleted a related row. Check and try again.")
        return False
    return True


def closure_notes(row: Any) -> list[str]:
    """Return a note about the existing reservations on closed days, which are not cancelled. One query."""
    if not isinstance(row, Closure):
        return []
    expected = Reservation.objects.filter(
        venue=row.venue_id,
        date__range=(row.first_date, row.last_date),
        status__in=[Reservation.Status.CONFIRMED, Reservation.Status.PENDING],
    ).count()
    if not expected:
        return []
    return [
        f"{expected} existing reservation{'s' if expected > 1 else ''} on these days"
        f" {'are' if expected > 1 else 'is'} not cancelled. You can cancel them in the day view."
    ]


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def remove(request: PageRequest, *, kind: str, key: UUID) -> HttpResponse:
    """Ask for confirmation, then delete one row; a row in use is not deleted, with a message about its use."""
    row_kind, venue = KINDS[kind], request.access.venue
    row = get_object_or_404(row_kind.model, venue=venue, pk=key)
    if request.method != "POST":
        return render(request, "reservations/setup_remove.html", {"row": row, "kind": row_kind})
    name = str(row)
    try:
        tables.delete_row(row)
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("setup-edit-" + kind, venue=venue.public_id, key=key)
    messages.success(request, f"Deleted: {name}.")
    return redirect(row_kind.list_url, venue=venue.public_id)
