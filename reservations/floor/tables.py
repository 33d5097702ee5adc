"""Puts tables into a venue, and takes out what nobody needs."""

import re
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError

from accounts.models import Venue
from framework.errors import InvalidRequest
from reservations.models import Area, Table

# So many tables are added at once, and so long is the name of one.
MOST_AT_ONCE = 100
LONGEST_NAME = 20
RANGE = re.compile(r"(?P<kind>\D*)(?P<first>\d{1,4})\s*(?:-|\N{EN DASH}|\.\.)\s*(?P<again>\D*)(?P<last>\d{1,4})")


class BadRow(InvalidRequest):
    """Names of tables that cannot be read, or that are there already."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param="names")


class InUse(InvalidRequest):
    """Something else needs what was to go."""


def names_of(text: str) -> list[str]:
    """The names that people mean by `T1-T3, E1`: T1, T2, T3 and E1, in their order. Raises BadRow."""
    names: list[str] = []
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        row = RANGE.fullmatch(part)
        if row is None:
            names.append(part)
            continue
        first, last, kind = int(row["first"]), int(row["last"]), row["kind"]
        if row["again"].strip() not in ("", kind.strip()) or last < first or last - first >= MOST_AT_ONCE:
            raise BadRow(f"“{part}” is not a valid range of at most {MOST_AT_ONCE} tables. Example: T1-T12.")
        width = len(row["first"]) if row["first"].startswith("0") else 0
        names.extend(f"{kind}{number:0{width}d}" for number in range(first, last + 1))
    if not 1 <= len(names) <= MOST_AT_ONCE:
        raise BadRow(f"Enter 1 to {MOST_AT_ONCE} tables.")
    if long := next((name for name in names if len(name) > LONGEST_NAME), None):
        raise BadRow(f"A name can have at most {LONGEST_NAME} characters: “{long}” has more.")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadRow(f"“{twice}” is duplicated.")
    return names


def add_row(venue: Venue, *, names: str, seats_min: int, seats_max: int, area: Area | None) -> int:
    """Add tables of one size, all or none; return how many. Raises BadRow."""
    wanted = names_of(names)
    known = Table.objects.filter(venue=venue, name__in=wanted).order_by("name").values_list("name", flat=True)
    if known:
        raise BadRow(f"These tables already exist: {', '.join(known)}. Nothing was added.")
    rows = [
        Table(venue=venue, area=area, name=name, seats_min=seats_min, seats_max=seats_max, priority=0)
        for name in wanted
    ]
    try:
        with transaction.atomic():
            Table.objects.bulk_create(rows)
    except IntegrityError as error:
        raise BadRow("Another user has just added one of these tables. Nothing was added.") from error
    return len(rows)


def remove(row: Any) -> None:
    """Delete a table, an area, a combination, a period or a closure. Raises InUse, and then it is as it was."""
    try:
        with transaction.atomic():
            if isinstance(row, Table):
                # Whoever puts it into a combination meanwhile waits, and then finds it gone.
                Table.objects.select_for_update().filter(pk=row.pk).first()
                if pushed := list(row.combinations.order_by("name").values_list("name", flat=True)):
                    raise InUse(f"{row.name} is part of {', '.join(pushed)}. Remove it from there first.")
            row.delete()
    except ProtectedError as error:
        if isinstance(row, Area):
            names = row.tables.order_by("name").values_list("name", flat=True)
            raise InUse(f"{row.name} contains tables: {', '.join(names)}. Move them first.") from error
        raise InUse(
            f"{row.name} has past or upcoming reservations. Make it inactive instead:"
            " it is then not assigned to new reservations."
        ) from error
