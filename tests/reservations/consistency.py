"""Asks the database whether the book is right, in its own words and past our code."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from accounts.models import Event
from framework.errors import ApiError
from reservations.models import GuestMail, Reservation, Seating

OVERLAPS = """
    SELECT one.table_id, one.during, other.during
    FROM reservations_seating AS one
    JOIN reservations_seating AS other ON other.table_id = one.table_id AND other.id > one.id
    WHERE one.during && other.during
"""
# The row and its seatings name the same tables; a reservation has them for its whole stay, or until its party has
# departed; a cancelled one has none; a confirmed one has some.
DISAGREEMENTS = """
    SELECT its.id, its.status, its.tables, seated.names
    FROM reservations_reservation AS its
    LEFT JOIN LATERAL (
        SELECT coalesce(array_agg(named.name ORDER BY named.name COLLATE "C"), '{}') AS names,
               bool_and(CASE WHEN its.arrival IN ('finished', 'no_show')
                   THEN seating.during <@ tstzrange(its.starts_at, its.ends_at)
                   ELSE seating.during = tstzrange(its.starts_at, its.ends_at)
               END) AS is_whole,
               bool_and(named.venue_id = its.venue_id) AS is_at_home
        FROM reservations_seating AS seating
        JOIN reservations_table AS named ON named.id = seating.table_id
        WHERE seating.reservation_id = its.id
    ) AS seated ON true
    WHERE its.tables::text[] IS DISTINCT FROM seated.names::text[]
       OR seated.is_whole IS FALSE
       OR seated.is_at_home IS FALSE
       OR (its.status = 'cancelled' AND seated.names <> '{}')
       OR (its.status = 'confirmed' AND seated.names = '{}')
"""


def problems() -> list[Any]:
    """What is wrong with the seatings of all venues that have tables."""
    with connection.cursor() as cursor:
        cursor.execute(OVERLAPS)
        found: list[Any] = cursor.fetchall()
        cursor.execute(DISAGREEMENTS)
        found += cursor.fetchall()
    return found


def unchanged(refusal: type[ApiError], attempt: Callable[[], Any]) -> ApiError:
    """The refusal, after which everything is as it was."""
    before = state()
    with pytest.raises(refusal) as refused:
        attempt()
    assert state() == before
    return refused.value


def state() -> list[Any]:
    """Everything that a refusal leaves as it is."""
    return [list(model.objects.order_by("pk").values()) for model in (Reservation, Seating, Event, GuestMail)]
