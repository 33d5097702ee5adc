"""Asks the database whether the book is right, in its own words and past our code."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from accounts.models import Event
from framework.errors import Refusal
from reservations.models import GuestMail, Reservation, Seating

OVERLAPS = """
    SELECT one.table_id, one.during, other.during
    FROM reservations_seating AS one
    JOIN reservations_seating AS other ON other.table_id = one.table_id AND other.id > one.id
    WHERE one.during && other.during
"""
# Who has which tables is told twice, by the row and by its seatings; a reservation is seated for the time that it
# says; a cancelled one has nothing; a confirmed one has a place.
DISAGREEMENTS = """
    SELECT its.id, its.status, its.tables, seated.names
    FROM reservations_reservation AS its
    LEFT JOIN LATERAL (
        SELECT coalesce(array_agg(named.name ORDER BY named.name COLLATE "C"), '{}') AS names,
               bool_and(seating.during = tstzrange(its.starts_at, its.ends_at)) AS is_whole,
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


def unchanged(refusal: type[Refusal], attempt: Callable[[], Any]) -> Refusal:
    """The refusal, after which everything is as it was."""
    before = state()
    with pytest.raises(refusal) as refused:
        attempt()
    assert state() == before
    return refused.value


def state() -> list[Any]:
    """Everything that a refusal leaves as it is."""
    return [list(model.objects.order_by("pk").values()) for model in (Reservation, Seating, Event, GuestMail)]
