"""What a change of a reservation has changed, for guests: the values before, and how they read."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, time
from typing import Any

from reservations.models import Reservation


@dataclass(frozen=True, slots=True)
class Difference:
    """A changed value: its label, what it was and what it is."""

    label: str
    before: str
    after: str


def format_day(day: date) -> str:
    """Format a date unambiguously: Saturday 28 November 2026."""
    return f"{day:%A} {day.day} {day:%B} {day.year}"


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
        Difference("Date", format_day(date.fromisoformat(former["date"])), format_day(reservation.date)),
        Difference("Time", f"{time.fromisoformat(former['time']):%H:%M}", f"{reservation.time:%H:%M}"),
        Difference("Guests", str(former["party_size"]), str(reservation.party_size)),
    ]
    if "area" in former:
        rows.append(Difference("Area", former["area"] or "any", reservation.area.name if reservation.area else "any"))
    return [row for row in rows if row.before != row.after]
