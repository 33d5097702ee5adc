"""Many guests at once: whatever they do, no table is given twice, and the book says what the tables say."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from accounts.models import ApiKey, Event, Venue
from framework.consistency import all_checks
from framework.errors import ApiError
from reservations.booking import commands, waitlist
from reservations.floor import tables as floor
from reservations.models import Reservation, Seating, Table
from reservations.models.reservations import IS_EXPECTED
from reservations.service import check_in
from tests.reservations import consistency
from tests.support import builders
from tests.support.live_server import served

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
DAYS = [date(2026, 11, 28) + timedelta(days=ahead) for ahead in range(3)]
PACING = 10
WRITERS = 8


def restaurant(**fields: Any) -> Venue:
    """A venue of seven tables, some of which are pushed together."""
    venue = builders.venue(**fields)
    tables = [builders.table(venue, f"T{number}", seats_max=(2, 2, 2, 4, 4, 6, 8)[number]) for number in range(7)]
    for one, other in ((0, 1), (1, 2), (3, 4), (4, 5)):
        builders.combination(venue, tables[one], tables[other], seats_min=3, seats_max=8)
    return venue


class Writer:
    """Somebody who does at random what guests, staff and workers do, and keeps no more than what he has heard."""

    def __init__(self, seed: int, *, by_the_hours: list[UUID], by_the_staff: list[UUID]) -> None:
        self.chance = random.Random(seed)
        self.guests_only = list(Venue.objects.filter(pk__in=by_the_hours))
        self.with_staff = list(Venue.objects.filter(pk__in=by_the_staff))
        self.mine: list[UUID] = []
        self.done: Counter[str] = Counter()

    def wish(self) -> dict[str, Any]:
        """When, and how many."""
        at = time(self.chance.randrange(18, 23), self.chance.choice((0, 15, 30, 45)))
        return {"day": self.chance.choice(DAYS), "at": at, "party_size": self.chance.randint(1, 8)}

    def run(self, operations: int) -> Counter[str]:
        """Do so much, and say what came of it."""
        try:
            for _ in range(operations):
                verb = self.chance.choices(list(self.verbs()), list(self.verbs().values()))[0]
                try:
                    verb()
                except ApiError as refusal:
                    self.done[refusal.code] += 1
                else:
                    self.done[verb.__name__] += 1
        finally:
            connection.close()
        return self.done

    def verbs(self) -> dict[Callable[[], None], int]:
        """What there is to do, and how often it is."""
        return {
            self.book: 44,
            self.cancel: 20,
            self.staff: 10,
            self.offer: 8,
            self.accept: 4,
            self.lapse: 5,
            self.arrive: 4,
            self.rename: 5,
        }

    def book(self) -> None:
        venue = self.chance.choice(self.guests_only + self.with_staff)
        wish = self.wish() | {"customer_name": "Ada Lovelace", "customer_phone": "+15550100999"}
        self.mine.append(commands.book(venue, now=NOON, actor="guest", **wish).pk)

    def pick(self) -> Reservation:
        """One of its own, or of anybody's that is young."""
        if self.mine and self.chance.random() < 0.7:
            return Reservation.objects.select_related("venue").get(pk=self.chance.choice(self.mine))
        young = Reservation.objects.select_related("venue").order_by("-id")[:20]
        return self.chance.choice(list(young) or [self.make_one()])

    def make_one(self) -> Reservation:
        self.book()
        return Reservation.objects.select_related("venue").get(pk=self.mine[-1])

    def cancel(self) -> None:
        commands.set_status(self.pick(), "cancelled", now=NOON, actor="guest")

    def waiting(self) -> Reservation:
        """A party of the waiting list, or anybody."""
        some = list(Reservation.objects.select_related("venue").filter(waitlist.IS_WAITLISTED).order_by("-id")[:10])
        return self.chance.choice(some) if some else self.pick()

    def offer(self) -> None:
        waitlist.offer_table(self.waiting(), actor="system", now=NOON)

    def accept(self) -> None:
        """Or decline."""
        held = Reservation.objects.select_related("venue").filter(offered_until__isnull=False).first()
        answer = self.chance.choice([waitlist.accept_offer, waitlist.decline_offer])
        answer(held or self.waiting(), actor="guest", now=NOON)

    def lapse(self) -> None:
        """Take back the offers of one venue, as if their time were over."""
        waitlist.expire_offers(self.chance.choice(self.with_staff), now=NOON + waitlist.OFFER_DURATION)

    def arrive(self) -> None:
        """See somebody come; who has left would leave a seating cut short, which the audit does not know."""
        reservation = self.pick()
        seen = self.chance.choice([Reservation.Arrival.ARRIVED, Reservation.Arrival.SEATED])
        check_in.record_arrival(reservation, seen, actor="staff", now=reservation.starts_at)

    def rename(self) -> None:
        """Give a table of the venue with staff a name that no other has."""
        table = self.chance.choice(list(Table.objects.filter(venue__in=self.with_staff)))
        table.name = f"T{self.chance.randrange(10**9)}"
        floor.rename(table, now=NOON, actor="staff")

    def staff(self) -> None:
        """Confirm who waits, or move somebody to named tables, where the staff may."""
        reservation = self.pick()
        if reservation.venue not in self.with_staff:
            return
        if reservation.status == Reservation.Status.PENDING:
            commands.set_status(reservation, "confirmed", now=NOON, actor="staff")
        else:
            known = list(reservation.venue.tables.values_list("name", flat=True))
            names = self.chance.choice([None, self.chance.sample(known, self.chance.randint(1, 2))])
            commands.update(reservation, now=NOON, actor="staff", tables=names, **self.wish())


def storm(operations: int, *, seed: int) -> Counter[str]:
    """Let the writers loose on two venues: one that is paced and refuses, one whose staff help and who has a list."""
    paced = restaurant()
    builders.period(paced, pacing_covers=PACING)
    listed = restaurant(when_full=Venue.WhenFull.WAITLIST)
    builders.period(listed)
    writers = [Writer(seed + number, by_the_hours=[paced.pk], by_the_staff=[listed.pk]) for number in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as threads:
        done = sum(threads.map(partial(Writer.run, operations=operations // WRITERS), writers), Counter[str]())
    assert consistency.problems() == []
    assert [finding for check in all_checks(now=timezone.now()).values() for finding in check] == []
    begin = Reservation.objects.filter(IS_EXPECTED, venue=paced).values("starts_at").annotate(Sum("party_size"))
    assert [slot for slot in begin if slot["party_size__sum"] > PACING] == []
    assert dict(Reservation.objects.values_list("pk", "version")) == list_events()
    return done


def list_events() -> dict[UUID | None, int]:
    """The last version of each reservation, where every one before it was list_events, and told once.

    The first is told twice where the reservation is confirmed at once.
    """
    found: dict[UUID | None, Counter[int]] = {}
    for subject, kind, record in Event.objects.values_list("subject", "type", "record"):
        is_first = record["version"] == 1 and kind == "reservation.confirmed"
        found.setdefault(subject, Counter())[record["version"]] += not is_first
    gaps = {pk: times for pk, times in found.items() if times != Counter(range(1, max(times) + 1))}
    assert gaps == {}
    return {pk: max(times) for pk, times in found.items()}


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_300_random_bookings_cancellations_and_changes_assign_no_table_twice() -> None:
    done = storm(304, seed=20261121)
    assert done["book"] > 50
    assert done["cancel"] > 10
    assert done["staff"] > 3
    assert min(done[verb] for verb in ("lapse", "arrive", "rename")) > 0
    assert sum(done.values()) == 304


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_of_10000_random_bookings_cancellations_and_changes_none_gives_a_table_twice() -> None:
    done = storm(10_000, seed=random.randrange(2**32))
    assert sum(done.values()) == 10_000
    assert min(done["offer"], done["accept"]) > 0
    assert Seating.objects.count() > 20
    print(done)  # noqa: T201  # what the run was made of


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_of_200_requests_at_once_for_the_last_table_one_is_confirmed(tmp_path: Path) -> None:
    venue = builders.venue()
    builders.table(venue)
    builders.period(venue)
    key = ApiKey.create(venue, name="test").text
    body = builders.reservation_body(time="19:30")

    async def ask(web: str) -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=None)
        headers = {"Authorization": f"Bearer {key}"}
        async with httpx.AsyncClient(base_url=web, headers=headers, limits=limits, timeout=120) as api:
            return await asyncio.gather(*[api.post("/api/v1/reservations", json=body) for _ in range(200)])

    with served(tmp_path / "web.log") as web:
        answers = asyncio.run(ask(web))
    outcomes = Counter(answer_of(answer) for answer in answers)
    assert outcomes == {(201, "confirmed"): 1, (400, "slot_unavailable"): 199}
    assert Reservation.objects.get().tables == ["T1"]
    assert consistency.problems() == []


def answer_of(response: httpx.Response) -> tuple[int, str]:
    """The status, and of the reservation its own or of a refusal its code."""
    record = response.json()
    return response.status_code, record["error"]["code"] if "error" in record else record["status"]
