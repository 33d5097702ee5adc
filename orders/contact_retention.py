"""Retention of the contacts and notes of orders: as long as the venue keeps its guests, or until it erases one."""

import time
from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform, KeyTransform
from django.db.models.functions import Lower

from accounts.models import ApiKey, IdempotentCall, Venue
from framework.db.sql_files import read_sql
from framework.errors import InvalidRequest
from orders.models import CheckoutSession, Order

ERASE = read_sql("orders", "erase_contacts")
ERASE_EXPIRED = ERASE.format(
    locked="SKIP LOCKED",
    condition="""placed.created_at < %(now)s AND greatest(placed.created_at, placed.requested_at) < %(now)s
        - make_interval(days => least(venue.forgets_guests_after_days, nullif(%(max_days)s, 0)))
        AND (venue.id = %(venue)s OR %(venue)s::uuid IS NULL AND NOT EXISTS (
            SELECT FROM accounts_sandboxclock AS clock WHERE clock.venue_id = venue.id
        ))""",
)
# A guest's own erasure waits for others and misses none.
ERASE_GIVEN = ERASE.format(locked="", condition="placed.id = ANY(%(ids)s)")
BATCH_SIZE = 500
# An order and the stored answer of its API call have the same transaction time, within this tolerance.
CALL_TOLERANCE = timedelta(minutes=5)
# Well below the time limit of a task; the next run continues.
MAX_RUN_S = 60.0


class HasOpenOrder(InvalidRequest):
    """The guest has an order that the kitchen has not finished."""


def erase_contacts_of(venue: Venue, contacts: Collection[str]) -> None:
    """Erase a guest's contacts, lower-case e-mail addresses and numbers, from the venue's orders, with their notes.

    Also from stored answers of API calls. In the caller's transaction. Raises HasOpenOrder; then nothing is erased.
    """
    orders = Order.objects.of(venue).annotate(email=Lower("contact_email"))
    found = orders.filter(Q(contact_phone__in=contacts) | Q(email__in=contacts))
    for pending in found.filter(status=Order.Status.PENDING)[:1]:
        raise HasOpenOrder(f"The guest has an open order, {pending}. Complete or cancel it first.")
    rows = list(found)
    with connection.cursor() as cursor:
        cursor.execute(ERASE_GIVEN, {"ids": [order.pk for order in rows], "batch": len(rows)})
    for order in rows:
        order.venue = venue
        erase_stored_answers(order)
    erase_checkouts(venue, contacts, rows)


def erase_stored_answers(order: Order) -> None:
    """Erase contact and notes from stored answers of idempotent calls; a repeated call still has one effect."""
    # Answers are stored by the real time, of which the clock of a sandbox was any time ahead.
    window = (order.created_at - CALL_TOLERANCE, order.created_at + CALL_TOLERANCE)
    families = ApiKey.objects.filter(venue=order.venue_id).values_list("family", flat=True)
    calls = IdempotentCall.objects.filter(scope__in=[family.hex for family in families], body__isnull=False)
    for call in calls if order.venue.clock_offset() else calls.filter(created_at__range=window):
        body = bytes(call.body or b"")
        if not body.startswith(b"{") or order.public_id.encode() not in body:
            continue
        record = orjson.loads(body)
        # Other answers may mention the order, such as in their metadata.
        if record.get("id") == order.public_id:
            record["fulfilment"]["contact"] = None
            record["items"] = [line | {"notes": ""} for line in record["items"]]
            IdempotentCall.objects.filter(pk=call.pk).update(body=orjson.dumps(record))


def erase_checkouts(venue: Venue, contacts: Collection[str], orders: Collection[Order]) -> None:
    """Delete a guest's checkout sessions at the venue, and the stored answers of their calls. Three queries."""
    sessions = CheckoutSession.objects.filter(venue=venue).annotate(
        phone=KeyTextTransform("phone_number", KeyTransform("buyer", "content")),
        email=Lower(KeyTextTransform("email", KeyTransform("buyer", "content"))),
    )
    found = list(sessions.filter(Q(phone__in=contacts) | Q(email__in=contacts) | Q(order__in=orders)))
    if found:
        # By the id in the path of the call or of its answer.
        ids = "|".join(session.public_id for session in found)
        calls = IdempotentCall.objects.filter(scope__startswith="ucp-")
        calls.filter(Q(operation__regex=ids) | Q(headers__Location__regex=ids)).delete()
        CheckoutSession.objects.filter(pk__in=[session.pk for session in found]).delete()


def erase_expired_contacts(*, now: datetime, venue: UUID | None = None) -> int:
    """Erase names, numbers, addresses and notes of orders whose retention is over; return the number of orders.

    Those of this venue, or of all without a clock of their own.

    A statement for each batch, so that an interrupted run loses nothing. Answers stored for idempotency keys are
    deleted after a day, so none of so old an order is left.
    """
    deadline, count = time.monotonic() + MAX_RUN_S, 0
    limits: dict[str, Any] = {"max_days": settings.GUEST_RETENTION_DAYS, "batch": BATCH_SIZE}
    values = {"now": now, "venue": venue} | limits
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(ERASE_EXPIRED, values)
            ((erased,),) = cursor.fetchall()
        if not erased:
            break
        count += erased
    return count
