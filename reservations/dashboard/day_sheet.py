"""The view model of the day page: visits, tables and times in columns of five minutes.

A day is a service day: seatings after midnight of an overnight service are on the day on which it started. Columns
count elapsed minutes, so a day has 23 or 25 hours when the clocks change.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Any, Self
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.utils.translation import gettext as _

from framework.db.sql_files import read_sql
from reservations.booking import waitlist
from reservations.booking.availability import Slot
from reservations.booking.service_day import ServiceDay
from reservations.models import Hold, Reservation, Seating, Table
from reservations.service.display_status import (
    BADGES,
    ENDED,
    UNDECIDED,
    WAITLISTED,
    Badge,
    Stage,
    Step,
    next_steps,
    stage_of,
)

COLUMN = timedelta(minutes=5)
HOUR = timedelta(hours=1)
# The columns of day.css: 28 hours.
MAX_COLUMNS = 336
MAX_LANES = 60
# The maximum of a period's turn times: finds parties that came before the start of the day and still sit.
MAX_STAY = timedelta(hours=12)
MAX_SHOWN = 1000
# The hours of a day without service and reservations.
IDLE_HOURS = (time(12), time(22))


@dataclass(frozen=True, slots=True)
class Visit:
    """A reservation on the sheet; `is_carried_over` if it started on the day before and has not ended."""

    reservation: Reservation
    stage: Stage
    steps: list[Step]
    seatings: list[Seating]
    is_unreached: bool
    is_carried_over: bool

    @property
    def at(self) -> str:
        return f"{self.reservation.time:%H:%M}"

    @property
    def starts_at(self) -> datetime:
        return self.reservation.starts_at

    @property
    def next(self) -> Step | None:
        return self.steps[0] if self.steps else None

    @property
    def badge(self) -> Badge:
        return BADGES[self.stage]

    @property
    def counts(self) -> bool:
        """Whether it counts in the covers: confirmed and not a no-show, or pending with a table held."""
        if self.is_carried_over or self.stage in (Stage.NO_SHOW, Stage.CANCELLED):
            return False
        return self.reservation.status == Reservation.Status.CONFIRMED or bool(self.reservation.tables)


@dataclass(frozen=True, slots=True)
class HeldTables:
    """A hold that has not expired, with the seatings of its tables."""

    hold: Hold
    seatings: list[Seating]
    until: str
    is_carried_over: bool

    @property
    def at(self) -> str:
        return f"{self.hold.time:%H:%M}"

    @property
    def starts_at(self) -> datetime:
        return self.hold.starts_at


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled range of columns."""

    column: int
    span: int
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Tick):
    """A visit in a row of the grid; the label names all tables of a party at several."""

    visit: Visit
    lane: int = 0

    @property
    def starts(self) -> str:
        return f"{self.visit.reservation.starts_at.timestamp():.0f}"

    @property
    def names(self) -> str:
        return json.dumps(self.visit.reservation.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class HoldBlock(Tick):
    """A hold in a row of the grid; the label names all tables if it has several."""

    held: HeldTables


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the grid: a table, or None for visits without one."""

    table: Table | None
    blocks: list[Block]
    holds: list[HoldBlock] = field(default_factory=list)
    starts_area: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar(Tick):
    """The covers that start at a slot, and its limit; `height` is 0 to 20."""

    covers: int
    limit: int | None
    height: int

    @property
    def negative(self) -> int:
        return -self.height

    @property
    def is_full(self) -> bool:
        return self.limit is not None and self.covers >= self.limit


class DaySheet:
    """The page of a day, as read at `now`."""

    def __init__(
        self, work: ServiceDay, visits: list[Visit], held: list[HeldTables], tables: list[Table], *, now: datetime
    ) -> None:
        self.work, self.visits, self.held, self.tables, self.now = work, visits, held, tables, now
        # From the hour of the first seating, reservation or hold to the end of the last.
        shown: list[Reservation | Hold] = [item.hold for item in held]
        shown += [visit.reservation for visit in visits if visit.stage not in (Stage.CANCELLED, Stage.NO_SHOW)]
        starts = [slot.starts_at for slot in work.slots] + [row.starts_at for row in shown]
        ends = [slot.ends_at(2) for slot in work.slots] + [row.ends_at for row in shown]
        if not starts:
            zone = ZoneInfo(work.venue.timezone)
            starts, ends = ([datetime.combine(work.day, at, zone).astimezone(UTC)] for at in IDLE_HOURS)
        first = max(min(starts), work.starts_at)
        self.first = first - timedelta(minutes=self.local(first).minute)
        last = max(*ends, self.first + HOUR)
        last += -(last - self.first) % HOUR
        self.columns = min((last - self.first) // COLUMN, MAX_COLUMNS)

    @classmethod
    def load(cls, work: ServiceDay, *, now: datetime) -> Self:
        """Read the reservations and holds of the day. Four queries."""
        venue = work.venue
        tables = Table.objects.filter(venue=venue).select_related("area")
        rows: list[Any] = list(
            Reservation.objects.filter(
                venue=venue, starts_at__gte=work.starts_at - MAX_STAY, starts_at__lt=work.ends_at
            )
            .annotate(is_unreached=waitlist.has_undelivered_mail(now=now))
            .order_by("starts_at", "id")[: 2 * MAX_SHOWN]
        )
        seatings: dict[UUID | None, list[Seating]] = {}
        for seating in Seating.objects.filter(reservation__in=[row.pk for row in rows]):
            seatings.setdefault(seating.reservation_id, []).append(seating)
        visits = []
        for row in rows:
            row.venue = venue
            stage = stage_of(row, now=now)
            is_carried_over = row.starts_at < work.starts_at
            if is_carried_over and (row.ends_at <= work.starts_at or stage in ENDED or not row.tables):
                continue
            visits.append(
                Visit(
                    reservation=row,
                    stage=stage,
                    steps=next_steps(row, now=now),
                    seatings=seatings.get(row.pk, []),
                    is_unreached=row.is_unreached,
                    is_carried_over=is_carried_over,
                )
            )
        held = load_holds(work, now=now)
        return cls(work, visits[:MAX_SHOWN], held, sorted(tables, key=table_sort_key), now=now)

    def local(self, moment: datetime) -> datetime:
        return moment.astimezone(ZoneInfo(self.work.venue.timezone))

    def column_of(self, moment: datetime) -> int:
        """Return the column of a moment, or the nearest one that is shown."""
        return min(max((moment - self.first) // COLUMN, 0), self.columns - 1)

    def columns_of(self, starts_at: datetime, ends_at: datetime) -> tuple[int, int]:
        column = self.column_of(starts_at)
        return column, max(self.column_of(ends_at - COLUMN) + 1 - column, 1)

    @property
    def hours(self) -> list[Tick]:
        return [
            Tick(column, min(12, self.columns - column), f"{self.local(self.first + column * COLUMN):%H:%M}")
            for column in range(0, self.columns, 12)
        ]

    @property
    def closed_spans(self) -> list[Tick]:
        end = self.first + self.columns * COLUMN
        edges = [self.first, *(moment for span in self.work.open_spans for moment in span), end]
        return [Tick(*self.columns_of(a, b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

    @property
    def services(self) -> list[Tick]:
        """The service periods, from the first to the last seating."""
        spans: dict[Any, list[Slot]] = {}
        for slot in self.work.slots:
            spans.setdefault(slot.period.pk, []).append(slot)
        return [
            Tick(
                *self.columns_of(slots[0].starts_at, slots[-1].seated_until),
                _("%(name)s %(first)s to %(last)s")
                % {"name": slots[0].period.name, "first": f"{slots[0].time:%H:%M}", "last": f"{slots[-1].time:%H:%M}"},
            )
            for slots in spans.values()
        ]

    @property
    def bars(self) -> list[Bar]:
        # Holds count for the pacing of a slot, so they are in its bar, though not in the covers of the day.
        counted: list[Reservation | Hold] = [item.hold for item in self.holds]
        counted += [visit.reservation for visit in self.visits if visit.counts]
        slots = [
            (slot, sum(row.party_size for row in counted if slot.starts_at <= row.starts_at < slot.seated_until))
            for slot in self.work.slots
        ]
        highest = max([1, *(covers for _, covers in slots), *(slot.period.pacing_covers or 0 for slot, _ in slots)])
        return [
            Bar(
                *self.columns_of(slot.starts_at, slot.seated_until),
                f"{slot.time:%H:%M}",
                covers=covers,
                limit=slot.period.pacing_covers,
                height=round(20 * covers / highest),
            )
            for slot, covers in slots
        ]

    @property
    def has_covers_in_view(self) -> bool:
        """Whether a slot in the part of the day that the page shows first has covers: from now on, today."""
        if self.now_column is None:
            return self.covers > 0
        first = self.column_of(self.now - 2 * HOUR)
        last = self.column_of(self.now + 7 * HOUR)
        return any(bar.covers and first <= bar.column <= last for bar in self.bars)

    @property
    def now_column(self) -> int | None:
        """The column of the current time; None if it is not shown."""
        return self.column_of(self.now) if self.first <= self.now < self.first + self.columns * COLUMN else None

    @property
    def covers(self) -> int:
        return sum(visit.reservation.party_size for visit in self.visits if visit.counts)

    @property
    def parties(self) -> int:
        return sum(visit.counts for visit in self.visits)

    def in_stages(self, stages: set[Stage]) -> list[Visit]:
        """Return the visits of the day in these stages, by time."""
        return [visit for visit in self.visits if visit.stage in stages and not visit.is_carried_over]

    @property
    def visits_by_time(self) -> list[Visit]:
        return self.in_stages(set(Stage) - {Stage.CANCELLED})

    @property
    def holds(self) -> list[HeldTables]:
        return [item for item in self.held if not item.is_carried_over]

    @property
    def entries_by_time(self) -> list[Visit | HeldTables]:
        """The lines of the list: the visits and the holds."""
        entries: list[Visit | HeldTables] = [*self.visits_by_time, *self.holds]
        return sorted(entries, key=lambda entry: entry.starts_at)

    @property
    def ended(self) -> list[Visit]:
        """The parties that have left or have not come, which the list folds; none if it has no others."""
        current = set(Stage) - ENDED
        return self.in_stages(ENDED - {Stage.CANCELLED}) if self.holds or self.in_stages(current) else []

    @property
    def lines(self) -> list[Visit | HeldTables]:
        """The entries without those that are folded."""
        folded = {id(visit) for visit in self.ended}
        return [entry for entry in self.entries_by_time if id(entry) not in folded]

    @property
    def cancelled(self) -> list[Visit]:
        return self.in_stages({Stage.CANCELLED})

    @property
    def requests(self) -> list[Visit]:
        return self.in_stages(UNDECIDED)

    @property
    def waiting(self) -> list[Visit]:
        parties = self.in_stages(WAITLISTED)
        return sorted(parties, key=lambda visit: (visit.reservation.offer_count, visit.reservation.created_at))

    @property
    def has_tables(self) -> bool:
        return any(table.is_active for table in self.tables)

    @property
    def rows(self) -> list[Row]:
        """The visits without a table, then the tables by area."""
        blocks: dict[UUID, list[Block]] = {}
        for visit in self.visits:
            for seating in visit.seatings:
                names = ", ".join(visit.reservation.tables) if len(visit.seatings) > 1 else ""
                block = Block(*self.columns_of(seating.during.lower, seating.during.upper), names, visit=visit)
                blocks.setdefault(seating.table_id, []).append(block)
        holds: dict[UUID, list[HoldBlock]] = {}
        for item in self.held:
            for seating in item.seatings:
                names = ", ".join(item.hold.tables) if len(item.seatings) > 1 else ""
                held = HoldBlock(*self.columns_of(seating.during.lower, seating.during.upper), names, held=item)
                holds.setdefault(seating.table_id, []).append(held)
        rows = [Row(None, list(self.unseated_blocks()))]
        area: Any = ()
        for table in self.tables:
            if table.is_active or table.pk in blocks or table.pk in holds:
                starts_area = table.area_id not in (None, area)
                rows.append(Row(table, blocks.get(table.pk, []), holds.get(table.pk, []), starts_area=starts_area))
                area = table.area_id
        return rows if rows[0].blocks else rows[1:]

    def unseated_blocks(self) -> Iterator[Block]:
        """Yield the visits without a table, each in the first free lane."""
        lane_ends: list[int] = []
        for visit in self.visits:
            if visit.seatings or visit.stage in ENDED or visit.is_carried_over:
                continue
            column, span = self.columns_of(visit.reservation.starts_at, visit.reservation.ends_at)
            lane = next((lane for lane, end in enumerate(lane_ends) if end <= column), len(lane_ends))
            lane_ends[lane : lane + 1] = [column + span]
            yield Block(column, span, visit=visit, lane=min(lane, MAX_LANES - 1))


def load_holds(work: ServiceDay, *, now: datetime) -> list[HeldTables]:
    """Read the holds of the day that have not expired, the soonest party first. One query, however many there are."""
    zone = ZoneInfo(work.venue.timezone)
    seatings: Any = (
        Seating.objects.filter(
            hold__venue=work.venue,
            hold__expires_at__gt=now,
            hold__starts_at__gte=work.starts_at - MAX_STAY,
            hold__starts_at__lt=work.ends_at,
            hold__ends_at__gt=work.starts_at,
        )
        .select_related("hold")
        .order_by("hold__starts_at", "hold", "table")
    )
    by_hold: dict[UUID, list[Seating]] = {}
    for seating in seatings:
        by_hold.setdefault(seating.hold_id, []).append(seating)
    held = []
    for group in by_hold.values():
        hold: Any = group[0].hold
        until = f"{hold.expires_at.astimezone(zone):%H:%M}"
        held.append(HeldTables(hold, group, until, is_carried_over=hold.starts_at < work.starts_at))
    return held


def table_sort_key(table: Table) -> tuple[Any, ...]:
    """Sort tables by area, then naturally by name: T2 before T10."""
    area = table.area
    parts = [(part.isdigit(), part.zfill(8)) for part in re.split(r"(\d+)", table.name) if part]
    return (area is None, area.position if area else 0, area.name if area else "", parts)


def day_digest(work: ServiceDay, *, now: datetime) -> str:
    """Return a digest that changes with the content, when a hold expires, and every five minutes (late guests).

    One query.
    """
    since = work.starts_at - MAX_STAY
    values: dict[str, Any] = {
        "venue": work.venue.pk,
        "day": work.day,
        "since": since,
        "until": work.ends_at,
        "now": now,
    }
    with connection.cursor() as cursor:
        cursor.execute(read_sql("reservations", "day_digest"), values)
        (digest,) = cursor.fetchone()
    return f"{digest}.{int(now.timestamp()) // 300}"
