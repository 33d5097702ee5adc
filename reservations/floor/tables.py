"""Adds several tables at once, renames a table, and deletes rows of the settings.

A rename and the update of each reservation are separate transactions, so that none waits for a lock while it holds
another: bookings lock their row before the tables. If a worker crashes in between, the next rename or the periodic
task updates the remaining reservations.
"""

import re
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.utils.translation import gettext as _

from accounts.models import EventType, Venue
from framework.db.sql_files import read_sql
from framework.errors import InvalidRequest
from reservations.booking import table_assignment
from reservations.models import Area, Reservation, Table
from reservations.notifications import record_change

MAX_TABLES = 100
MAX_NAME_LENGTH = 20
RANGE = re.compile(r"(?P<kind>\D*)(?P<first>\d{1,4})\s*(?:-|\N{EN DASH}|\.\.)\s*(?P<last_kind>\D*)(?P<last>\d{1,4})")


class InvalidTableNames(InvalidRequest):
    """The table names are malformed, or already exist."""

    def __init__(self, message: str) -> None:
        super().__init__(message, param="names")


class RowInUse(InvalidRequest):
    """The row is referenced by other rows."""


def parse_names(text: str) -> list[str]:
    """Expand `T1-T3, E1` to T1, T2, T3, E1. Raises InvalidTableNames."""
    names: list[str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        row = RANGE.fullmatch(part)
        if row is None:
            names.append(part)
            continue
        first, last, kind = int(row["first"]), int(row["last"]), row["kind"]
        if row["last_kind"].strip() not in ("", kind.strip()) or last < first or last - first >= MAX_TABLES:
            message = _("“%(text)s” is not a valid range of at most %(most)s tables. Example: T1-T12.")
            raise InvalidTableNames(message % {"text": part, "most": MAX_TABLES})
        width = len(row["first"]) if row["first"].startswith("0") else 0
        names.extend(f"{kind}{number:0{width}d}" for number in range(first, last + 1))
    if not 1 <= len(names) <= MAX_TABLES:
        raise InvalidTableNames(_("Enter 1 to %(most)s tables.") % {"most": MAX_TABLES})
    if long := next((name for name in names if len(name) > MAX_NAME_LENGTH), None):
        message = _("A name can have at most %(most)s characters: “%(name)s” has more.")
        raise InvalidTableNames(message % {"most": MAX_NAME_LENGTH, "name": long})
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InvalidTableNames(_("“%(name)s” is duplicated.") % {"name": twice})
    return names


def add_tables(venue: Venue, *, names: str, seats_min: int, seats_max: int, area: Area | None) -> int:
    """Add tables of one size, all or none; return how many. Raises InvalidTableNames."""
    new = parse_names(names)
    known = Table.objects.filter(venue=venue, name__in=new).order_by("name").values_list("name", flat=True)
    if known:
        message = _("These tables already exist: %(names)s. Nothing was added.")
        raise InvalidTableNames(message % {"names": ", ".join(known)})
    rows = [
        Table(venue=venue, area=area, name=name, seats_min=seats_min, seats_max=seats_max, priority=0) for name in new
    ]
    try:
        with transaction.atomic():
            Table.objects.bulk_create(rows)
    except IntegrityError as error:
        message = _("Another user has just added one of these tables. Nothing was added.")
        raise InvalidTableNames(message) from error
    return len(rows)


def delete_row(row: Any) -> None:
    """Delete a table, an area, a combination, a period or a closure. Raises RowInUse; then nothing is changed."""
    try:
        with transaction.atomic():
            if isinstance(row, Table):
                # A concurrent change of a combination waits for this lock.
                Table.objects.select_for_update().filter(pk=row.pk).first()
                if combinations := list(row.combinations.order_by("name").values_list("name", flat=True)):
                    message = _("%(name)s is part of %(combinations)s. Remove it from there first.")
                    raise RowInUse(message % {"name": row.name, "combinations": ", ".join(combinations)})
            row.delete()
    except ProtectedError as error:
        if isinstance(row, Area):
            names = row.tables.order_by("name").values_list("name", flat=True)
            message = _("%(name)s contains tables: %(tables)s. Move them first.")
            raise RowInUse(message % {"name": row.name, "tables": ", ".join(names)}) from error
        message = _(
            "%(name)s has past or upcoming reservations. Make it inactive instead:"
            " it is then not assigned to new reservations."
        )
        raise RowInUse(message % {"name": row.name}) from error


def rename(table: Table, *, now: datetime, actor: str) -> None:
    """Store the table with its new name, and after the commit update its reservations.

    Waits for concurrent bookings of the table; later ones read the new name.
    """
    with transaction.atomic():
        Table.objects.select_for_update().get(pk=table.pk)
        table.save()
        transaction.on_commit(partial(update_table_names, venue=table.venue, now=now, actor=actor))


def update_table_names(*, venue: Venue | None = None, now: datetime, actor: str) -> int:
    """Update outdated table names on the reservations of this venue, or of all; return how many changed.

    One query, and a transaction for each reservation. Call it outside of transactions.
    """
    with connection.cursor() as cursor:
        values = {"venue": venue.pk if venue else None, "now": now}
        cursor.execute(read_sql("reservations", "outdated_table_names"), values)
        keys: list[tuple[UUID]] = cursor.fetchall()
    return sum(update_reservation(key, now=now, actor=actor) for (key,) in keys)


def update_reservation(key: UUID, *, now: datetime, actor: str) -> bool:
    """Store the current names of its tables, record the change, and return whether they changed."""
    with transaction.atomic():
        reservation = Reservation.objects.select_related("venue").get(pk=key)
        table_assignment.lock_reservation(reservation)
        names = sorted(reservation.seatings.values_list("table__name", flat=True))
        if names in ([], reservation.tables):
            return False
        reservation.tables = names
        reservation.save_version("tables", now=now)
        record_change(reservation, EventType.RESERVATION_UPDATED, mail=None, actor=actor, now=now)
    return True
