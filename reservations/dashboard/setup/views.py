"""Settings: the tables page, and forms for tables, areas, combinations, service periods and closed days."""

from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db import IntegrityError, transaction
from django.db.models import Count, Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django_stubs_ext import StrPromise

from accounts.dashboard.decorators import PageRequest, page
from accounts.onboarding_steps import Step
from accounts.tenancy.permissions import Right
from framework.db.natural_sort import natural
from framework.errors import ApiError
from reservations.floor import tables as floor
from reservations.forms import setup
from reservations.forms.setup import WEEKDAYS, format_weekdays
from reservations.models import Area, CancellationTerms, Closure, Combination, Reservation, ServicePeriod, Table


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of row: its form, and the page that lists it."""

    name: str
    new: StrPromise
    form: Any
    tab: str
    about: StrPromise | None = None

    @property
    def model(self) -> Any:
        return self.form.Meta.model

    @property
    def list_url(self) -> str:
        return f"setup-{self.tab}"


@dataclass(frozen=True, slots=True)
class TableGroup:
    """The tables of an area, or those of none."""

    area: Area | None
    tables: list[Table]

    @property
    def seats(self) -> int:
        return sum(table.seats_max for table in self.tables if table.is_active)


def area_of(table: Table) -> UUID | None:
    return table.area_id


# A venue has dozens of tables; the page says when it does not list all.
MAX_SHOWN = 500
COMBINED = gettext_lazy("Assigned to a party when no single table is large enough and free.")
SEATED = gettext_lazy(
    "From the first to the last seating. If the last seating is earlier than the first, it is on the next day."
)
ASKED = gettext_lazy(
    "If several terms apply to a reservation, those with the highest deposit do, and of these the ones with the"
    " longest notice. Existing reservations keep the terms that they were made on."
)
KINDS = {
    kind.name: kind
    for kind in (
        Kind("table", gettext_lazy("New table"), setup.VenueTableForm, "tables"),
        Kind("area", gettext_lazy("New area"), setup.VenueAreaForm, "tables"),
        Kind("combination", gettext_lazy("New combination"), setup.VenueCombinationForm, "tables", COMBINED),
        Kind("period", gettext_lazy("New service period"), setup.VenuePeriodForm, "hours", SEATED),
        Kind("closure", gettext_lazy("New closed days"), setup.VenueClosureForm, "hours"),
        Kind("term", gettext_lazy("New cancellation terms"), setup.VenueTermsForm, "terms", ASKED),
    )
}


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest, *, kind: str, key: UUID | None = None) -> HttpResponse:
    row_kind, venue = KINDS[kind], request.access.venue
    row = get_object_or_404(row_kind.model, venue=venue, pk=key) if key else None
    initial = first_values(kind, request) if row is None else {}
    form = row_kind.form(
        request.POST if request.method == "POST" else None, instance=row, venue=venue, initial=initial
    )
    if form.is_valid() and stored(form, request):
        message = _("Saved: %(name)s.") % {"name": form.instance}
        messages.success(request, " ".join([message, *closure_notes(form.instance)]))
        return redirect(row_kind.list_url, venue=venue.public_id)
    # The stored name: the form has changed its own instance. The venue was checked above.
    saved_name = str(row_kind.model.objects.get(pk=key)) if row else ""  # nosemgrep: rows-are-found-by-their-owner
    context = {"form": form, "kind": row_kind, "row": row, "saved_name": saved_name}
    return render(request, "reservations/setup_form.html", context, status=400 if form.is_bound else 200)


def first_values(kind: str, request: PageRequest) -> dict[str, Any]:
    """What the form of a new row begins with: every weekday, and the day that was clicked in the calendar."""
    if kind in ("period", "term"):
        return {"weekdays": list(range(len(WEEKDAYS)))}
    if kind == "closure" and (day := request.GET.get("day")):
        return {"first_date": day, "last_date": day}
    return {}


def stored(form: Any, request: PageRequest) -> bool:
    """Save the row; return False with a form error after a concurrent change. Renames update reservations."""
    row = form.instance
    try:
        with transaction.atomic():
            if isinstance(row, Table) and not row._state.adding and "name" in form.changed_data:
                floor.rename(row, now=request.access.venue.now(), actor=request.access.actor)
            else:
                form.save()
    except IntegrityError:
        message = _("Another user has just used this name, or deleted a related row. Check and try again.")
        form.add_error(None, message)
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
    message = ngettext(
        "%(count)s existing reservation on these days is not cancelled. You can cancel them in the day view.",
        "%(count)s existing reservations on these days are not cancelled. You can cancel them in the day view.",
        expected,
    )
    return [message % {"count": expected}]


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def remove(request: PageRequest, *, kind: str, key: UUID) -> HttpResponse:
    """Ask for confirmation, then delete one row; a row in use is not deleted, with a message about its use."""
    row_kind, venue = KINDS[kind], request.access.venue
    row = get_object_or_404(row_kind.model, venue=venue, pk=key)
    if request.method != "POST":
        return render(request, "reservations/setup_remove.html", {"row": row, "kind": row_kind})
    name = str(row)
    try:
        floor.delete_row(row)
    except ApiError as refusal:
        messages.error(request, refusal.message)
        return redirect("setup-edit-" + kind, venue=venue.public_id, key=key)
    messages.success(request, _("Deleted: %(name)s.") % {"name": name})
    return redirect(row_kind.list_url, venue=venue.public_id)


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def tables(request: PageRequest) -> HttpResponse:
    """List tables, areas and combinations; a POST adds several tables. Five queries besides those of the layout."""
    venue = request.access.venue
    form = setup.TableRangeForm(request.POST if request.method == "POST" else None, venue=venue)
    if form.is_valid():
        try:
            number = floor.add_tables(venue, **form.cleaned_data)
        except ApiError as refusal:
            form.add_error(refusal.param or None, refusal.message)
        else:
            message = ngettext("%(count)s table added.", "%(count)s tables added.", number)
            messages.success(request, message % {"count": number})
            return redirect("setup-tables", venue=venue.public_id)
    rows: list[Any] = list(
        Table.objects.filter(venue=venue)
        .select_related("area")
        .order_by("area__position", "area__name", natural("name"), "name")[:MAX_SHOWN]
    )
    groups = [TableGroup(tables[0].area, tables) for tables in (list(t) for _area, t in groupby(rows, key=area_of))]
    areas = list(Area.objects.filter(venue=venue).annotate(number=Count("tables")).order_by("position", "name"))
    context = {
        "form": form,
        "tables": rows,
        "seats": sum(group.seats for group in groups),
        "groups": groups,
        "areas": areas,
        "other_areas": [area for area in areas if area.pk not in {group.area and group.area.pk for group in groups}],
        "combinations": Combination.objects.filter(venue=venue)
        .prefetch_related("tables")
        .order_by(natural("name"), "name")[:MAX_SHOWN],
        "max_shown": MAX_SHOWN,
    }
    return render(request, "reservations/setup_tables.html", context, status=400 if form.errors else 200)


@page(Right.VENUE, section="venue")
def terms(request: PageRequest) -> HttpResponse:
    """List the cancellation terms. One query besides those of the layout."""
    venue = request.access.venue
    rows = list(CancellationTerms.objects.filter(venue=venue).order_by("party_from", "first_date", "id")[:MAX_SHOWN])
    days = [(_("every day") if len(set(row.weekdays)) == len(WEEKDAYS) else format_weekdays(row)) for row in rows]
    return render(request, "reservations/setup_terms.html", {"rows": list(zip(rows, days, strict=True))})


TABLES_STEP = Step(
    position=20,
    label=gettext_lazy("Add your tables"),
    why=gettext_lazy("Reservations are then confirmed automatically if a table is free."),
    page="setup-tables",
    right=Right.VENUE,
    is_done=Exists(Table.objects.filter(venue=OuterRef("pk"))),
)
HOURS_STEP = Step(
    position=30,
    label=gettext_lazy("Set your hours"),
    why=gettext_lazy("Guests book the times at which you seat them."),
    page="setup-hours",
    right=Right.VENUE,
    is_done=Exists(ServicePeriod.objects.filter(venue=OuterRef("pk"))),
)
