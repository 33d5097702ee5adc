"""A guest who is erased is in no row of any table any more, whichever way the table was booked."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client

from accounts.models import Venue
from accounts.request_log.writer import request_log
from catalogue.models import FlowBooking
from reservations.booking import commands
from reservations.guests import erasure, profiles
from reservations.guests.profiles import hash_contact
from reservations.models import Reservation
from tests.catalogue import builders
from tests.catalogue.builders import NOW
from tests.support import builders as base

pytestmark = pytest.mark.django_db
EMAIL, PHONE, NAME = "zqerased@example.com", "+4533998877", "Zqerased Lovelace"
CONTACT = hash_contact(customer_email=EMAIL, customer_phone=None)


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


def mentions(*words: str) -> list[str]:
    """The tables in which one of the words stands, in capitals or not, also within bytes."""
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT t::text FROM "{table}" AS t')  # noqa: S608  # our own tables
            text = "\n".join(row for (row,) in cursor.fetchall()).casefold()
            if any(word.casefold() in text or word.encode().hex() in text for word in words):
                found.append(table)
    return found


def post_ok(client: Client, path: str, body: dict[str, object]) -> None:
    answer = client.post(path, body, "application/json", headers={"Idempotency-Key": "first"})
    assert answer.status_code == 201, answer.content


@pytest.mark.exhaustive
def test_nothing_of_an_erased_guest_stays_in_any_table() -> None:
    place = builders.listing(builders.restaurant(name="Fiskebar")).restaurant
    venue: Venue = place.listing.venue
    for name in ("T2", "T3"):
        base.table(venue, name)
    guest = {
        "customer_name": NAME,
        "customer_email": EMAIL,
        "customer_phone": PHONE,
        "special_requests": f"for {NAME}",
    }
    slot = builders.slot(place)
    post_ok(Client(), f"/v1/flow/offers/{slot.public_id}/bookings", {"party_size": 2, **guest})
    post_ok(base.client(venue), "/api/v1/reservations", base.reservation_body(metadata={"of": NAME}, **guest))
    request_log.flush()
    assert FlowBooking.objects.get().contact == CONTACT
    assert {"reservations_reservation", "catalogue_flowbooking"} <= set(mentions(EMAIL, PHONE, NAME, CONTACT))
    for its in Reservation.objects.all():
        commands.set_status(its, "cancelled", now=NOW, actor="system")
    row = Reservation.objects.first()
    assert row is not None
    profiles.save_note(profiles.guest_of_reservation(row), text=f"{NAME} is kind", tags=[], seen=None, now=NOW)
    later = NOW + timedelta(days=1)
    assert erasure.erase(profiles.guest_of_reservation(row), name=NAME, typed=NAME, now=later, actor="system") == 2
    assert mentions(EMAIL, PHONE, NAME, CONTACT) == []
    assert FlowBooking.objects.get().contact == ""
