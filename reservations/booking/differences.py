"""What a change of a reservation has changed, for guests: the values before, and how they read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from typing import Any

from django.utils.translation import gettext as _

from framework.languages import format_clock, format_day
from reservations.models import Reservation


@dataclass(frozen=True, slots=True)
class Difference:
    """A changed value: its label, what it was and what it is."""

    label: str
    before: str
    after: str


def to_former(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return date, time and party size of a reservation as JSON: 2026-11-28, 19:30, 4."""
    return {
        "date": values["date"].isoformat(),
        "time": f"{values['time']:%H:%M}",
        "party_size": values["party_size"],
    }


def list_differences(former: Mapping[str, Any], reservation: Reservation) -> list[Difference]:
    """Return what differs from `former`: the values of `to_former`, and perhaps the name of the `area` ("" for any).

    No query without `area`.
    """
    rows = [
        Difference(_("Date"), format_day(date.fromisoformat(former["date"])), format_day(reservation.date)),
        Difference(_("Time"), format_clock(time.fromisoformat(former["time"])), format_clock(reservation.time)),
        Difference(_("Guests"), str(former["party_size"]), str(reservation.party_size)),
    ]
    if "area" in former:
        area = reservation.area.name if reservation.area else ""
        rows.append(Difference(_("Area"), former["area"] or _("any"), area or _("any")))
    return [row for row in rows if row.before != row.after]
