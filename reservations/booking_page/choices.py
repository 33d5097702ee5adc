"""The choice of a party, an area, a day and a time, on the booking page and on the page of a reservation."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import Venue
from framework.errors import InvalidRequest
from framework.languages import format_clock, format_day
from reservations.booking import slot_states
from reservations.booking.availability import ONE_DAY, choose_area, find_area, list_areas
from reservations.booking.slot_states import DayChoices, SlotChoice, SlotState
from reservations.booking.venue_time import local_today
from reservations.models import Area

DEFAULT_PARTY_SIZE, MAX_PARTY_SIZE = 2, 500
DAYS_SHOWN = 7
# Days shown before the chosen one.
DAYS_BEFORE = 2


def format_guests(count: int) -> str:
    return ngettext("%(count)s guest", "%(count)s guests", count) % {"count": count}


class ChoiceForm(forms.Form):
    """What is chosen: hidden fields of the form that submits it."""

    party = forms.IntegerField(min_value=1, max_value=MAX_PARTY_SIZE, widget=forms.HiddenInput)
    day = forms.DateField(
        input_formats=["%Y-%m-%d"],
        widget=forms.HiddenInput,
        error_messages={"invalid": gettext_lazy("Choose a date.")},
    )
    time = forms.TimeField(
        input_formats=["%H:%M"], widget=forms.HiddenInput, error_messages={"invalid": gettext_lazy("Choose a time.")}
    )
    area = forms.CharField(required=False, max_length=100, widget=forms.HiddenInput)

    def __init__(self, *args: Any, venue: Venue, **options: Any) -> None:
        super().__init__(*args, **options)
        self.venue = venue

    def get_venue(self) -> Venue:
        return self.venue

    def clean_area(self) -> Area | None:
        try:
            return choose_area(self.venue, self.cleaned_data["area"])
        except InvalidRequest as error:
            raise forms.ValidationError(error.message) from error


@dataclass(frozen=True, slots=True)
class PeriodChoices:
    """The times of a service period; `is_open` if the page shows them unfolded."""

    name: str
    options: list[SlotChoice]
    is_open: bool

    @property
    def available(self) -> int:
        return sum(option.state != SlotState.FULL for option in self.options)


@dataclass(kw_only=True)
class Choices:
    """The week around the chosen day. `choice` is the chosen time, and `notes` say which values were replaced."""

    venue: Venue
    party: int
    areas: list[Area]
    area: Area | None
    today: date
    last: date
    week: list[DayChoices]
    chosen: DayChoices
    # As asked for; None if the query has no valid one.
    day: date | None
    at: time | None
    notes: list[str]
    # Of the reservation that is to be moved.
    booked_at: time | None = None

    @property
    def periods(self) -> list[PeriodChoices]:
        """The times of the chosen day by period. One is open: of the chosen time, else the next today, else dinner."""
        groups = self.chosen.by_period()
        if self.chosen.day != self.today:
            groups.reverse()
        wanted = self.at or self.booked_at
        with_wanted = [name for name, options in groups if wanted in [option.time for option in options]]
        available = [name for name, options in groups if any(option.state != SlotState.FULL for option in options)]
        shown = next(iter([*with_wanted, *available, *(name for name, _options in groups)]), None)
        return [PeriodChoices(name, options, name == shown) for name, options in self.chosen.by_period()]

    @property
    def choice(self) -> SlotChoice | None:
        return next((option for option in self.chosen.choices if option.time == self.at), None)

    @property
    def can_take(self) -> bool:
        """Whether the chosen time of the chosen day can be booked or requested."""
        if self.at is None or self.day != self.chosen.day:
            return False
        choice = self.choice
        return self.chosen.state == "on_request" or bool(choice and choice.state != SlotState.FULL)

    @property
    def formatted_day(self) -> str:
        return format_day(self.chosen.day)

    def refuse_time(self) -> None:
        """Drop the chosen time, with a note."""
        if self.at is None:
            return
        note = _("%(time)s is not available for %(guests)s. Choose another time.")
        if self.area:
            note = _("%(time)s is not available for %(guests)s in the area %(area)s. Choose another time.")
        values = {"time": format_clock(self.at), "guests": format_guests(self.party), "area": self.area}
        self.notes.append(note % values)
        self.at = None


def load_choices(
    venue: Venue,
    query: QueryDict,
    *,
    party: int = DEFAULT_PARTY_SIZE,
    excluding: UUID | None = None,
    paid_usdc: Decimal = Decimal(0),
    now: datetime,
) -> Choices:
    """Return the choices for the query; invalid values are replaced, with a note. At most eight queries.

    `party` is the default, and `excluding` the key of a reservation that is to be moved, for which a deposit of
    `paid_usdc` is held.
    """
    today = local_today(venue, now=now)
    last = today + timedelta(days=venue.max_days_ahead)
    notes = []
    chosen_party = parse("party", query)
    if chosen_party is None and query.get("party"):
        note = _("The number of guests must be 1 to %(most)s. These are the times for %(guests)s.")
        notes.append(note % {"most": MAX_PARTY_SIZE, "guests": format_guests(party)})
    party = chosen_party or party
    day = parse("day", query)
    if query.get("day") and (day is None or not today <= day <= last):
        note = _("Choose a date from %(first)s to %(last)s.")
        notes.append(note % {"first": format_day(today), "last": format_day(last)})
        day = None
    areas, area = list_areas(venue), None
    if name := query.get("area"):
        try:
            area = find_area(areas, name)
        except InvalidRequest:
            notes.append(_("This area cannot be chosen. These are the times of all tables."))
    first = today if day is None else max(today, min(day - timedelta(days=DAYS_BEFORE), last))
    week = slot_states.list_days(
        venue,
        first,
        first + (DAYS_SHOWN - 1) * ONE_DAY,
        party_size=party,
        area=area,
        excluding=excluding,
        paid_usdc=paid_usdc,
        now=now,
    )
    chosen = next((option for option in week if option.day == day), None) or next(
        (option for option in week if option.state in ("free", "request", "on_request")), week[0]
    )
    return Choices(
        venue=venue,
        party=party,
        areas=areas,
        area=area,
        today=today,
        last=last,
        week=week,
        chosen=chosen,
        day=day,
        at=parse("time", query),
        notes=notes,
    )


def parse(name: str, query: QueryDict) -> Any:
    """Return the value of this field of the form; None if it is invalid."""
    try:
        return ChoiceForm.base_fields[name].clean(query.get(name, ""))
    except forms.ValidationError:
        return None
