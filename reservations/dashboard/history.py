"""What a change of a reservation has changed, for staff: two records of its events, compared."""

from collections.abc import Mapping
from datetime import date, time
from typing import Any

from django.utils.translation import gettext as _

from framework.languages import format_clock, format_day


def list_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the differences of two records that staff work with: `Time: 19:00 → 20:00`.

    Long texts are named only. Records of an erased guest have none of the names and contacts that differed.
    """
    values = [
        (_("Date"), *(format_day(date.fromisoformat(record["date"])) for record in (before, after))),
        (_("Time"), *(format_clock(time.fromisoformat(record["time"])) for record in (before, after))),
        (_("Guests"), *(str(record["party_size"]) for record in (before, after))),
        (_("Tables"), *(", ".join(record["tables"] or []) for record in (before, after))),
        (_("Area"), *(record.get("area") or "" for record in (before, after))),
        (_("Name"), *(record["customer_name"] for record in (before, after))),
        (_("Phone"), *(record["customer_phone"] or "" for record in (before, after))),
        (_("Email"), *(record["customer_email"] or "" for record in (before, after))),
    ]
    changes = [f"{label}: {old or '-'} → {new or '-'}" for label, old, new in values if old != new]
    if before["special_requests"] != after["special_requests"]:
        changes.append(_("Special requests"))
    return changes
