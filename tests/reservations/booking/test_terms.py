"""Cancellation terms: which apply, how they read, and what is stored with a reservation."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, transaction

from accounts.models import Venue
from reservations.booking import commands, terms
from reservations.booking.terms import Terms
from reservations.models import AgreedTerms, CancellationTerms, GuestMail, Reservation
from tests.support import builders

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
# A Saturday; 19:00 in Rome.
DAY = date(2026, 11, 28)
STARTS_AT = datetime(2026, 11, 28, 18, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _now() -> Iterator[None]:
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.fixture
def osteria() -> Venue:
    venue = builders.venue()
    builders.table(venue)
    builders.period(venue)
    return venue


def row(venue: Venue, **asked: Any) -> CancellationTerms:
    return CancellationTerms.objects.create(venue=venue, **({"free_hours": 24} | asked))


def found(venue: Venue, party_size: int = 2, *, day: date = DAY, now: datetime = NOW) -> Terms | None:
    rows = terms.list_terms(venue)
    return Terms.at(rows, venue=venue, day=day, starts_at=STARTS_AT, party_size=party_size, now=now)


def book(venue: Venue, **changes: Any) -> Reservation:
    given: dict[str, Any] = {
        "customer_name": "Ada Lovelace",
        "customer_email": "ada@example.com",
        "day": DAY,
        "at": time(19),
        "party_size": 2,
    }
    return commands.book(venue, now=NOW, actor="guest", **(given | changes))


def test_the_drawing_and_the_table_show_the_transitions() -> None:
    docs = Path(__file__).parents[3] / "docs"
    drawn = re.findall(r'data-transition="(\w+) (\w+)"', (docs / "deposit-states.svg").read_text())
    pairs = {(str(state or "none"), str(each)) for state, all_ in terms.TRANSITIONS.items() for each in all_}
    assert (set(drawn), len(drawn)) == (pairs, len(pairs))
    lines = [line for line in (docs / "deposits.md").read_text().splitlines() if line.startswith("| `")]
    listed = {line.split("`")[1]: line.split(" | ")[-1] for line in lines}
    told = {(state, each) for state, text in listed.items() for each in re.findall(r"`(held|kept|returned)`", text)}
    assert told == pairs


@pytest.mark.parametrize(
    ("asked", "party_size", "day", "applies"),
    [
        ({}, 1, DAY, True),
        ({"party_from": 6}, 5, DAY, False),
        ({"party_from": 6}, 6, DAY, True),
        ({"weekdays": [5]}, 2, DAY, True),
        ({"weekdays": [4, 6]}, 2, DAY, False),
        ({"first_date": date(2026, 11, 29)}, 2, DAY, False),
        ({"first_date": DAY, "last_date": DAY}, 2, DAY, True),
        ({"last_date": date(2026, 11, 27)}, 2, DAY, False),
    ],
)
def test_terms_apply_to_their_parties_weekdays_and_days(
    osteria: Venue, asked: dict[str, Any], party_size: int, day: date, applies: bool
) -> None:
    row(osteria, **asked)
    assert (found(osteria, party_size, day=day) is not None) == applies


def test_the_highest_deposit_applies_and_then_the_longest_notice(osteria: Venue) -> None:
    row(osteria, free_hours=168)
    row(osteria, free_hours=2, deposit_usdc=Decimal("10.50"))
    row(osteria, free_hours=48, deposit_usdc=Decimal("10.50"), party_from=4)
    few, many = found(osteria, 2), found(osteria, 4)
    assert few is not None
    assert many is not None
    assert (few.free_hours, few.deposit) == (2, {"amount": "21", "currency": "USDC"})
    assert (many.free_hours, many.deposit) == (48, {"amount": "42", "currency": "USDC"})


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (
            {"free_hours": 24, "deposit_usdc": Decimal(20)},
            "The deposit of 40 USDC is returned when you come, or if you cancel until 19:00 on Friday 27 November"
            " 2026. If you cancel later or do not come, the restaurant keeps it.",
        ),
        (
            {"free_hours": None, "deposit_usdc": Decimal(20)},
            "The deposit of 40 USDC is returned when you come, or if you cancel before. If you do not come, the"
            " restaurant keeps it.",
        ),
        (
            {"free_hours": 168, "deposit_usdc": Decimal(20)},
            "The deposit of 40 USDC is returned when you come. If you cancel or do not come, the restaurant keeps it.",
        ),
        ({"free_hours": 48}, "You can cancel free of charge until 19:00 on Thursday 26 November 2026."),
        ({"free_hours": 0}, "You can cancel free of charge."),
        ({"free_hours": 168}, "Free cancellation ended at 19:00 on Saturday 21 November 2026."),
    ],
)
def test_terms_read_as_sentences(osteria: Venue, asked: dict[str, Any], text: str) -> None:
    row(osteria, **asked)
    # A quarter past the deadline of a week.
    its = found(osteria, now=STARTS_AT - timedelta(hours=168) + timedelta(minutes=15))
    assert its is not None
    assert its.text == text


@pytest.mark.parametrize(
    "asked",
    [
        {"free_hours": 169},
        {"free_hours": None},
        {"deposit_usdc": Decimal(0)},
        {"deposit_usdc": Decimal("1000.01")},
        {"party_from": 0},
        {"weekdays": []},
        {"weekdays": [7]},
        {"first_date": DAY, "last_date": date(2026, 11, 27)},
    ],
)
def test_the_database_refuses_terms_that_make_no_sense(osteria: Venue, asked: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        row(osteria, **asked)


def test_a_reservation_keeps_the_terms_that_it_was_made_on(osteria: Venue) -> None:
    its = row(osteria, free_hours=24, deposit_usdc=Decimal(20))
    reservation = book(osteria)
    its.delete()
    agreed = AgreedTerms.objects.get()
    assert (agreed.reservation_id, agreed.free_hours, agreed.deposit_usdc) == (reservation.pk, 24, Decimal(40))
    assert (agreed.free_until, agreed.deposit_state) == (STARTS_AT - timedelta(hours=24), "")


def test_without_terms_nothing_is_stored(osteria: Venue) -> None:
    book(osteria)
    assert not AgreedTerms.objects.exists()


def test_the_venues_own_integration_is_confirmed_without_a_deposit(osteria: Venue) -> None:
    row(osteria, deposit_usdc=Decimal(20))
    body: dict[str, Any] = {"customer_name": "Ada", "customer_email": "ada@example.com"}
    body |= {"date": DAY.isoformat(), "time": "19:00", "party_size": 2}
    answer = builders.client(osteria).post("/api/v1/reservations", body, "application/json")
    assert (answer.status_code, answer.json()["status"], answer.json()["tables"]) == (201, "confirmed", ["T1"])


def test_the_availability_of_the_management_api_has_the_terms(osteria: Venue) -> None:
    row(osteria, deposit_usdc=Decimal(20), party_from=2)
    address = f"/api/v1/availability?date={DAY}&party_size="
    api = builders.client(osteria)
    one, two = (api.get(f"{address}{size}").json()["days"][0]["slots"][4] for size in (1, 2))
    assert one["terms"] is None
    assert two == {
        "time": "19:00",
        "starts_at": "2026-11-28T18:00:00Z",
        "ends_at": "2026-11-28T19:30:00Z",
        "state": "free",
        "reason": None,
        "period": "Dinner",
        "terms": {
            "cancel_free_until": "2026-11-27T18:00:00Z",
            "deposit": {"amount": "40", "currency": "USDC"},
            "text": "The deposit of 40 USDC is returned when you come, or if you cancel until 19:00 on Friday 27"
            " November 2026. If you cancel later or do not come, the restaurant keeps it.",
        },
    }


def test_a_time_with_a_deposit_is_a_request_without_a_table_where_none_can_be_paid(osteria: Venue) -> None:
    row(osteria, deposit_usdc=Decimal(20))
    requested = book(osteria, requests_deposit_times=True)
    assert (requested.status, requested.pending_reason, requested.tables) == ("pending", "manual", [])
    assert GuestMail.objects.get().kind == "requested"
    assert terms.describe_agreed(requested, AgreedTerms.objects.get(), now=NOW) == (
        "The restaurant may ask you for a deposit of 40 USDC."
    )
    commands.set_status(requested, "confirmed", now=NOW, actor="staff:ada")
    assert (requested.status, requested.tables) == ("confirmed", ["T1"])
