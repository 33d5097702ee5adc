"""The tables page: tables, areas and combinations."""

from typing import Any

from django.contrib import messages
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render

from accounts.dashboard.decorators import PageRequest, page
from accounts.onboarding import Step, build_venue_url
from accounts.tenancy.permissions import Access, Right
from framework.errors import ApiError
from reservations.floor import tables as floor_tables
from reservations.forms.setup import TableRangeForm
from reservations.models import Area, Combination, Table

# A venue has dozens of tables; the page says when it does not list all.
MAX_SHOWN = 500


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def tables(request: PageRequest) -> HttpResponse:
    """List tables, areas and combinations; a POST adds several tables. Five queries besides those of the layout."""
    venue = request.access.venue
    form = TableRangeForm(request.POST if request.method == "POST" else None, venue=venue)
    if form.is_valid():
        try:
            number = floor_tables.add_tables(venue, **form.cleaned_data)
        except ApiError as refusal:
            form.add_error(refusal.param or None, refusal.message)
        else:
            messages.success(request, f"{number} table{'s' if number > 1 else ''} added.")
            return redirect("setup-tables", venue=venue.public_id)
    rows: list[Any] = list(
        Table.objects.filter(venue=venue)
        .select_related("area")
        .order_by("area__position", "area__name", "name")[:MAX_SHOWN]
    )
    seats = sum(table.seats_max for table in rows if table.is_active)
    context = {
        "form": form,
        "tables": rows,
        "seats": seats,
        "areas": Area.objects.filter(venue=venue).annotate(number=Count("tables")).order_by("position", "name"),
        "combinations": Combination.objects.filter(venue=venue)
        .prefetch_related("tables")
        .order_by("name")[:MAX_SHOWN],
        "max_shown": MAX_SHOWN,
    }
    return render(request, "reservations/setup_tables.html", context, status=400 if form.errors else 200)


def find_tables_step(access: Access) -> Step | None:
    """Return the set-up step to add a table, until there is one; a sandbox needs none. One query."""
    venue = access.venue
    if venue.is_sandbox or not access.may(Right.VENUE) or Table.objects.filter(venue=venue).exists():
        return None
    why = "Reservations are then confirmed automatically if a table is free."
    return Step("Add your tables", why, build_venue_url("setup-tables", access))
