"""A reservation as callers see it, written without its serializer.

reservations.serializers.ReservationRecord says what it is, and the OpenAPI document says that; a test holds the two
equal.
"""

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any
from uuid import UUID

import orjson

from accounts.models import RecordCount, Venue
from framework.api.pagination.page_number import Page
from framework.api.pagination.schema import format_datetime
from framework.db import prepared_statements
from framework.public_ids import encode
from reservations.models import Reservation
from reservations.models.reservations import PREFIX

ROWS = """
SELECT id, code, status, pending_reason, customer_name, customer_email, customer_phone, date, time, party_size,
    special_requests, starts_at, ends_at, tables, metadata::text, version, created_at, updated_at, cancelled_at
FROM reservations_reservation
"""
SOONEST = "ORDER BY starts_at, id"
OF_VENUE = "WHERE venue_id = %(venue)s"
OF_STATUS = " AND status = %(status)s"
OF_DAY = " AND date = %(day)s"
# No tally is kept of a day; the bookings of one are soon counted.
COUNTED = "SELECT count(*) FROM reservations_reservation {where}"
FIRST_PAGE = f"{ROWS} {{where}} {SOONEST} LIMIT %(limit)s"
# By the index alone: see orders.order_json, which pages in the same way.
KEYS = f"SELECT id FROM reservations_reservation {{where}} {SOONEST} LIMIT %(limit)s OFFSET %(offset)s"  # noqa: S608  # of constants
LATER_PAGE = f"{ROWS} WHERE id = ANY(%(ids)s) {SOONEST}"


def of(reservation: Reservation) -> dict[str, Any]:
    """The record of a reservation."""
    return _record(
        reservation.pk,
        reservation.code,
        reservation.status,
        reservation.pending_reason,
        reservation.customer_name,
        reservation.customer_email,
        reservation.customer_phone,
        reservation.date,
        reservation.time,
        reservation.party_size,
        reservation.special_requests,
        reservation.starts_at,
        reservation.ends_at,
        reservation.tables,
        reservation.metadata,
        reservation.version,
        reservation.created_at,
        reservation.updated_at,
        reservation.cancelled_at,
    )


def page_of(
    venue: Venue, page: Page, *, status: str | None = None, day: date | None = None
) -> tuple[int, list[dict[str, Any]]]:
    """How many such reservations the venue has, and those of a page, soonest first.

    Two queries, three for a page behind the first, one for a page past the end.
    """
    where = OF_VENUE + (OF_STATUS if status else "")
    asked = {
        "venue": venue.pk,
        "status": status,
        "day": day,
        "limit": page.limit,
        "offset": page.offset,
    }
    if day:
        where += OF_DAY
        ((total,),) = prepared_statements.fetch_all(COUNTED.format(where=where), asked)
    else:
        total = RecordCount.objects.get_total(venue, RecordCount.RecordType.RESERVATION, status=status)
    if page.offset >= total:
        return total, []
    if page.offset:
        ids = [pk for (pk,) in prepared_statements.fetch_all(KEYS.format(where=where), asked)]
        rows = prepared_statements.fetch_all(LATER_PAGE, {"ids": ids})
    else:
        rows = prepared_statements.fetch_all(FIRST_PAGE.format(where=where), asked)
    return total, [_of_row(row) for row in rows]


def _of_row(row: prepared_statements.Row) -> dict[str, Any]:
    told = list(row)
    told[14] = orjson.loads(told[14])
    return _record(*told)


def _record(
    pk: UUID,
    code: str,
    status: str,
    pending_reason: str | None,
    customer_name: str,
    customer_email: str | None,
    customer_phone: str | None,
    day: date,
    at: time,
    party_size: int,
    special_requests: str,
    starts_at: datetime,
    ends_at: datetime,
    tables: Sequence[str],
    metadata: dict[str, str],
    version: int,
    created_at: datetime,
    updated_at: datetime,
    cancelled_at: datetime | None,
) -> dict[str, Any]:
    return {
        "id": encode(PREFIX, pk),
        "object": "reservation",
        "code": code,
        "status": status,
        "pending_reason": pending_reason,
        "customer_name": customer_name,
        "customer_email": customer_email,
        "customer_phone": customer_phone,
        "date": day.isoformat(),
        "time": at.isoformat("minutes"),
        "party_size": party_size,
        "special_requests": special_requests,
        "starts_at": format_datetime(starts_at),
        "ends_at": format_datetime(ends_at),
        "tables": list(tables),
        "metadata": metadata,
        "version": version,
        "created_at": format_datetime(created_at),
        "updated_at": format_datetime(updated_at),
        "cancelled_at": cancelled_at and format_datetime(cancelled_at),
    }
