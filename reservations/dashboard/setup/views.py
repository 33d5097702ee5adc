"""Where people say what they seat guests at and when: the forms of one row, whatever kind it is of."""

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
    """What can be set up: its rows, its form, and the page that lists it."""

    word: str
    model: Any
    form: Any
    listed: str
    tab: str
    about: str = ""


KINDS: Mapping[str, Kind] = {
    "table": Kind("table", Table, setup.OwnTableForm, "setup-tables", "tables"),
    "area": Kind("area", Area, setup.OwnAreaForm, "setup-tables", "tables"),
    "combination": Kind(
        "combination",
        Combination,
        setup.OwnCombinationForm,
        "setup-tables",
        "tables",
        "Given to a party for which no single table is large enough and free.",
    ),
    "period": Kind(
        "service period",
        ServicePeriod,
        setup.OwnPeriodForm,
        "setup-hours",
        "hours",
        "From the first to the last seating. A last seating before the first one is on the next day.",
    ),
    "closure": Kind("closed days", Closure, setup.OwnClosureForm, "setup-hours", "hours"),
}


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest, *, kind: str, key: UUID | None = None) -> HttpResponse:
    """Write one row down, or change it."""
    its, venue = KINDS[kind], request.access.venue
    row = get_object_or_404(its.model, venue=venue, pk=key) if key else None
    form = its.form(request.POST if request.method == "POST" else None, instance=row, venue=venue)
    if form.is_valid() and stored(form, request):
        messages.success(request, " ".join([f"Saved: {form.instance}.", *told_of(form.instance)]))
        return redirect(its.listed, venue=venue.public_id)
    status = 400 if request.method == "POST" else 200
    # As it is in the database: the form has written what is wanted into its own. It is the venue's, as asked above.
    shown = str(its.model.objects.get(pk=key)) if row else ""  # nosemgrep: rows-are-found-by-their-owner
    return render(
        request,
        "reservations/setup_form.html",
        {"form": form, "its": its, "kind": kind, "row": row, "shown": shown},
        status=status,
    )


def stored(form: Any, request: PageRequest) -> bool:
    """Store the row; False where somebody else has taken its name meanwhile. A table's new name goes to its guests."""
    row = form.instance
    try:
        with transaction.atomic():
            if isinstance(row, Table) and not row._state.adding and "name" in form.changed_data:
                rename_table.rename(row, now=timezone.now(), actor=request.access.actor)
            else:
                form.save()
    except IntegrityError:
        form.add_error(None, "Somebody else has just taken this name, or removed what this needs. Look again.")
        return False
    return True


def told_of(row: Any) -> list[str]:
    """What closed days mean for guests who have booked: nothing, until somebody tells them. One query."""
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
        f"{expected} reservation{'s' if expected > 1 else ''} of these days stay{'' if expected > 1 else 's'} as"
        " they are: cancel them in the day view."
    ]


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def remove(request: PageRequest, *, kind: str, key: UUID) -> HttpResponse:
    """Ask, and then delete one row; of one that is needed, say what needs it."""
    its, venue = KINDS[kind], request.access.venue
    row = get_object_or_404(its.model, venue=venue, pk=key)
    if request.method != "POST":
        return render(request, "reservations/setup_remove.html", {"row": row, "its": its, "kind": kind})
    name = str(row)
    try:
        tables.remove(row)
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("setup-edit-" + kind, venue=venue.public_id, key=key)
    messages.success(request, f"Removed: {name}.")
    return redirect(its.listed, venue=venue.public_id)
