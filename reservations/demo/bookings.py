"""The reservations of the demo, planned in memory and inserted at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.backends.postgresql.psycopg_any import DateTimeTZRange

from accounts.demo.rows import (
    EVENT_COLUMNS,
    IS_DEMO,
    PROGRAM,
    STAFF,
    demo_id,
    event_row,
    insert,
    insert_objects,
    random_of,
)
from accounts.models import Event, EventType, Venue
from framework.data_files import read_toml
from framework.db.sql_files import read_sql
from reservations.booking.availability import Place, list_places
from reservations.booking.venue_time import default_turn_time
from reservations.demo.guests import GUESTS, email_of, phone_of
from reservations.models import Reservation, Seating, generate_code
from reservations.serializers import to_json

DATA = read_toml(Path(__file__).with_suffix(".toml"))
HISTORY, NEXT_DAYS = DATA["history"], DATA["next_days"]
Status, Reason, Arrival = Reservation.Status, Reservation.PendingReason, Reservation.Arrival
QUARTER = timedelta(minutes=15)
PARTY_SIZES, PARTY_WEIGHTS = (1, 2, 3, 4, 5, 6, 7), (2, 40, 14, 26, 8, 8, 2)
REQUESTS_SHARE = 0.2
ACTORS, ACTOR_WEIGHTS = ("guest", PROGRAM, STAFF), (5, 2, 3)
# The pending reasons by the stages of pending reservations.
PENDING_REASONS = {"requested": Reason.MANUAL, "large_party": Reason.LARGE_PARTY, "waiting": Reason.WAITLIST}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A reservation: when it begins, and the stage that it is in; `name` is unique in the venue.

    A day before or after today leaves those out for which no table is free.
    """

    name: str
    is_today: bool
    starts_at: datetime
    party_size: int
    stage: str
    guest: int
    requests: str
    made_at: datetime
    actor: str


@dataclass(frozen=True, slots=True)
class Step:
    """A change of a reservation: the events that it stores, and the columns that it changes."""

    at: datetime
    kinds: Sequence[EventType]
    changes: dict[str, Any]


@dataclass(slots=True)
class Floor:
    """The tables of the venue, and when they are taken."""

    places: Sequence[Place]
    taken: dict[UUID, list[tuple[datetime, datetime]]] = field(default_factory=dict)

    @classmethod
    def load(cls, venue: Venue, plans: Sequence[Plan]) -> Self:
        """Read the tables, and the seatings of others at the times of the plans. Three queries."""
        places = list_places(venue)
        floor = cls(sorted(places, key=lambda place: (len(place.names), place.seats_max, place.names)))
        starts = [plan.starts_at for plan in plans]
        span = (min(starts), max(starts) + timedelta(days=1))
        seatings = Seating.objects.filter(table__venue=venue, during__overlap=span)
        for table, during in seatings.values_list("table", "during"):
            floor.taken.setdefault(table, []).append((during.lower, during.upper))
        return floor

    def take(self, party_size: int, starts_at: datetime, ends_at: datetime) -> Place | None:
        """Take the best free place for the party; None if there is none."""
        for place in self.places:
            if place.fits(party_size) and not any(
                start < ends_at and starts_at < end
                for table in place.tables
                for start, end in self.taken.get(table, ())
            ):
                for table in place.tables:
                    self.taken.setdefault(table, []).append((starts_at, ends_at))
                return place
        return None


def replace_reservations(venue: Venue, *, now: datetime) -> int:
    """Remove the demo's reservations that nobody has changed, add those of the days around now; return their number.

    Call it in a transaction that has locked the venue.
    """
    plans = list(list_plans(venue, now=now))
    delete_reservations(venue, is_changed_too=False)
    changed = set(Reservation.objects.filter(IS_DEMO, venue=venue).values_list("pk", flat=True))
    floor = Floor.load(venue, plans)
    reservations: list[Reservation] = []
    seatings: list[Seating] = []
    events: list[tuple[Any, ...]] = []
    for plan in plans:
        key = demo_id(venue.pk, plan.name, at=plan.starts_at)
        if key in changed:
            continue
        reservation = build_reservation(venue, key, plan, now=now)
        steps = list(list_steps(plan, reservation, now=now))
        holds_table = plan.stage not in (*PENDING_REASONS, "cancelled")
        if holds_table:
            left_at = steps[-1].at if plan.stage in ("finished", "no_show") else reservation.ends_at
            place = floor.take(plan.party_size, plan.starts_at, left_at)
            if place is None and floor.places and not plan.is_today:
                continue
            reservation.tables = place.names if place else []
            seatings += [
                Seating(reservation_id=key, table_id=table, during=DateTimeTZRange(plan.starts_at, left_at))
                for table in (place.tables if place else ())
            ]
        events += apply_steps(reservation, steps, plan)
        reservations.append(reservation)
    insert_objects(reservations)
    insert_objects(seatings)
    insert(Event, EVENT_COLUMNS, events)
    return len(reservations)


def remove_reservations(venue: Venue) -> int:
    """Remove the demo's reservations, also those that people have changed; return their number."""
    return delete_reservations(venue, is_changed_too=True)


def delete_reservations(venue: Venue, *, is_changed_too: bool) -> int:
    values: dict[str, Any] = {"venue": venue.pk, "is_changed_too": is_changed_too}
    with connection.cursor() as cursor:
        cursor.execute(read_sql("reservations", "delete_demo_reservations"), values)
        ((deleted,),) = cursor.fetchall()
    return int(deleted)


def list_plans(venue: Venue, *, now: datetime) -> Iterator[Plan]:
    """Yield the reservations of the past days, of today and of the next days."""
    zone = ZoneInfo(venue.timezone)
    today = now.astimezone(zone).date()
    for back in range(HISTORY["days"], 0, -1):
        yield from plan_day(venue, today - timedelta(days=back), zone, HISTORY, now=now)
    yield from plan_today(venue, zone, now=now)
    for ahead in range(1, NEXT_DAYS["days"] + 1):
        yield from plan_day(venue, today + timedelta(days=ahead), zone, NEXT_DAYS, now=now)


def plan_today(venue: Venue, zone: ZoneInfo, *, now: datetime) -> list[Plan]:
    local = now.astimezone(zone)
    quarter = now.replace(minute=now.minute // 15 * 15, second=0, microsecond=0)
    rng = random_of(venue.pk, "reservations", local.date())
    plans = []
    for number, row in enumerate(DATA["today"]):
        minutes, stage = row["at_min"], row["stage"]
        starts_at = quarter + timedelta(minutes=minutes)
        if starts_at.astimezone(zone).date() != local.date():
            stage = "confirmed" if minutes < 0 else "finished"
            starts_at = quarter + timedelta(minutes=-minutes if minutes < 0 else -minutes - 120)
        if stage == "walk_in":
            made_at = starts_at
        else:
            hours = 3 if stage in PENDING_REASONS else 3 * 24
            made_at = min(starts_at, now) - timedelta(minutes=rng.randint(20, hours * 60))
        plans.append(
            Plan(
                name=f"reservation {number}",
                is_today=True,
                starts_at=starts_at,
                party_size=row["party_size"],
                stage=stage,
                guest=number,
                requests=row.get("requests", ""),
                made_at=made_at,
                actor=STAFF if stage == "walk_in" else rng.choices(ACTORS, ACTOR_WEIGHTS)[0],
            )
        )
    return sorted(plans, key=lambda plan: plan.starts_at)


def plan_day(venue: Venue, day: date, zone: ZoneInfo, kind: dict[str, Any], *, now: datetime) -> list[Plan]:
    """The reservations of a past or a coming day: more at dinner, and more on weekends."""
    rng = random_of(venue.pk, "reservations", day)
    plans = []
    # A weighted sample without repetition (Efraimidis and Spirakis).
    ranks = [rng.random() ** (1 / guest.get("visits", 1)) for guest in GUESTS]
    guests = sorted(range(len(GUESTS)), key=ranks.__getitem__, reverse=True)
    amount = kind["reservations"][day.weekday()] + rng.randint(-kind["spread"], kind["spread"])
    for number, guest in enumerate(guests[:amount]):
        first, last = DATA["services"]["dinner" if rng.random() < HISTORY["dinner_share"] else "lunch"]
        opening = datetime.combine(day, first, zone)
        quarters = (datetime.combine(day, last, zone) - opening) // QUARTER
        starts_at = (opening + rng.randint(0, quarters) * QUARTER).astimezone(UTC)
        fate = rng.random()
        stage = "finished"
        if fate < HISTORY["no_show_share"]:
            stage = "no_show"
        elif fate < HISTORY["no_show_share"] + HISTORY["cancelled_share"]:
            stage = "cancelled"
        if starts_at > now:
            stage = "confirmed"
        plans.append(
            Plan(
                name=f"reservation {day} {number}",
                is_today=False,
                starts_at=starts_at,
                party_size=rng.choices(PARTY_SIZES, PARTY_WEIGHTS)[0],
                stage=stage,
                guest=guest,
                requests=rng.choice(DATA["requests"]) if rng.random() < REQUESTS_SHARE else "",
                made_at=min(starts_at, now) - timedelta(minutes=rng.randint(60, 6 * 24 * 60)),
                actor=rng.choices(ACTORS, ACTOR_WEIGHTS)[0],
            )
        )
    return sorted(plans, key=lambda plan: plan.starts_at)


def build_reservation(venue: Venue, key: UUID, plan: Plan, *, now: datetime) -> Reservation:
    """Return the unsaved reservation as it was made, without tables.

    Those that could cause a mail have no email address: reminders go to confirmed guests, offers to waiting ones.
    """
    local = plan.starts_at.astimezone(ZoneInfo(venue.timezone))
    is_walk_in, reason = plan.stage == "walk_in", PENDING_REASONS.get(plan.stage)
    is_mailed = plan.starts_at > now and reason not in (Reason.MANUAL, Reason.LARGE_PARTY)
    return Reservation(
        id=key,
        venue_id=venue.pk,
        code=generate_code(),
        status=Status.PENDING if reason else Status.CONFIRMED,
        pending_reason=reason,
        customer_name="Walk-in" if is_walk_in else GUESTS[plan.guest]["name"],
        customer_email=None if is_walk_in or is_mailed else email_of(plan.guest),
        customer_phone=None if is_walk_in else phone_of(plan.guest),
        date=local.date(),
        time=local.time(),
        starts_at=plan.starts_at,
        ends_at=plan.starts_at + default_turn_time(plan.party_size),
        party_size=plan.party_size,
        special_requests=plan.requests,
        created_at=plan.made_at,
        updated_at=plan.made_at,
        is_walk_in=is_walk_in,
    )


def list_steps(plan: Plan, reservation: Reservation, *, now: datetime) -> Iterator[Step]:
    """Yield how the reservation came to its stage; the last step is not later than now."""
    is_pending = reservation.status == Status.PENDING
    made = [EventType.RESERVATION_CREATED, *([] if is_pending else [EventType.RESERVATION_CONFIRMED])]
    yield Step(plan.made_at, made, {})
    rng = random_of(reservation.venue_id, reservation.pk)
    seated_at = plan.starts_at + timedelta(minutes=rng.randint(0, 10))
    updated = [EventType.RESERVATION_UPDATED]
    match plan.stage:
        case "arrived":
            yield Step(now - timedelta(minutes=3), updated, {"arrival": Arrival.ARRIVED})
        case "seated" | "walk_in":
            yield Step(min(seated_at, now), updated, {"arrival": Arrival.SEATED})
        case "finished":
            left_at = min(reservation.ends_at - timedelta(minutes=rng.randint(0, 25)), now)
            yield Step(seated_at, updated, {"arrival": Arrival.SEATED})
            yield Step(left_at, updated, {"arrival": Arrival.FINISHED})
        case "no_show":
            yield Step(plan.starts_at + timedelta(minutes=40), updated, {"arrival": Arrival.NO_SHOW})
        case "cancelled":
            cancelled_at = plan.made_at + (min(plan.starts_at, now) - plan.made_at) / 2
            changes = {"status": Status.CANCELLED, "cancelled_at": cancelled_at}
            yield Step(cancelled_at, [EventType.RESERVATION_CANCELLED], changes)


def apply_steps(reservation: Reservation, steps: Sequence[Step], plan: Plan) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the events of the steps, and give the reservation its final columns."""
    build = partial(event_row, reservation.venue_id, subject=reservation.pk)
    for version, step in enumerate(steps, start=1):
        for name, value in step.changes.items():
            setattr(reservation, name, value)
        reservation.version, reservation.updated_at = version, step.at
        actor = plan.actor if version == 1 else "guest" if plan.stage == "cancelled" else STAFF
        record = to_json(reservation)
        for kind in step.kinds:
            yield build(kind, actor=actor, record=record, version=version, at=step.at)
