"""The sheet of one day of a venue: who comes when and sits where, in the columns of five minutes that pages draw.

A day of the sheet is a day of work: what an overnight service seats after midnight stands on the day on which the
service began. Columns count minutes that pass, so a day has 23 or 25 hours where the clocks change.
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

from reservations.booking import waitlist
from reservations.booking.availability import Slot
from reservations.booking.service_day import Work
from reservations.models import Reservation, Seating, Table
from reservations.service.display_status import (
    AWAITED,
    LOOKS,
    ON_THE_LIST,
    OVER,
    UNDECIDED,
    Look,
    Stage,
    Step,
    stage_of,
    steps_of,
)

COLUMN = timedelta(minutes=5)
HOUR = timedelta(hours=1)
# The columns that day.css knows: 28 hours.
MOST_COLUMNS = 336
MOST_LANES = 60
# The longest stay that a period may have, so that who came before the day begins and still sits is found.
LONGEST_STAY = timedelta(hours=12)
# More of one day are not drawn.
MOST = 1000
# Where nobody comes and nobody is seated the sheet shows these hours.
IDLE_HOURS = (time(12), time(22))

# What a page shows is told by these: whatever changes here changes the answer. One statement.
SEEN = """
    SELECT md5(concat(
        (SELECT string_agg(its::text, '' ORDER BY id) FROM reservations_table AS its WHERE venue_id = %(venue)s),
        (SELECT string_agg(its::text, '' ORDER BY id) FROM reservations_area AS its WHERE venue_id = %(venue)s),
        (SELECT string_agg(its::text, '' ORDER BY id) FROM reservations_serviceperiod AS its
         WHERE venue_id = %(venue)s),
        (SELECT string_agg(its::text, '' ORDER BY id) FROM reservations_closure AS its
         WHERE venue_id = %(venue)s AND last_date >= %(day)s::date - 2 AND first_date <= %(day)s::date + 2),
        (SELECT concat(count(*), ' ', sum(version), ' ', max(updated_at)) FROM reservations_reservation
         WHERE venue_id = %(venue)s AND starts_at >= %(since)s AND starts_at < %(until)s)
    ))
"""


@dataclass(frozen=True, slots=True)
class Visit:
    """A reservation on the sheet."""

    reservation: Reservation
    stage: Stage
    steps: list[Step]
    seatings: list[Seating]
    is_unreached: bool
    # Came on the day before, and sits still.
    is_carried: bool
    # Written once, as pages name it in many places.
    public_id: str

    @property
    def at(self) -> str:
        """When they come, by the clock of the venue."""
        return f"{self.reservation.time:%H:%M}"

    @property
    def next(self) -> Step | None:
        """What staff most likely do next."""
        return self.steps[0] if self.steps else None

    @property
    def look(self) -> Look:
        """How its stage is shown."""
        return LOOKS[self.stage]

    @property
    def is_coming(self) -> bool:
        """Whether it counts among the covers: who is confirmed and has not stayed away, or has a table held."""
        if self.is_carried or self.stage in (Stage.NO_SHOW, Stage.CANCELLED):
            return False
        return self.reservation.status == Reservation.Status.CONFIRMED or bool(self.reservation.tables)


@dataclass(frozen=True, slots=True)
class Block:
    """A visit in a row of the grid: its first column, how many it takes, and its lane in the row."""

    visit: Visit
    column: int
    span: int
    lane: int = 0
    # Of a party at several tables: the names of all.
    others: str = ""

    @property
    def place(self) -> str:
        """The classes that put it there (columns.css)."""
        return f"c{self.column} w{self.span} l{self.lane}"

    @property
    def starts(self) -> str:
        """When the party comes, in seconds of the epoch."""
        return f"{self.visit.reservation.starts_at.timestamp():.0f}"

    @property
    def names(self) -> str:
        """The tables of the party, as a JSON array."""
        return json.dumps(self.visit.reservation.tables)


@dataclass(frozen=True, slots=True)
class Row:
    """A table, or with none those that have none yet."""

    table: Table | None
    blocks: list[Block]
    starts_area: bool = False

    @property
    def lanes(self) -> int:
        """How many of its blocks stand at one time, at the most."""
        return max((block.lane for block in self.blocks), default=0) + 1


@dataclass(frozen=True, slots=True)
class Tick:
    """A part of the sheet's width: a label of the hour, a stretch in which nobody is seated, a slot's bar."""

    column: int
    span: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """How many guests begin at a slot, of how many it takes."""

    column: int
    span: int
    at: str
    covers: int
    limit: int | None
    # Of 20: the height of the bar.
    height: int

    @property
    def negative(self) -> int:
        """How far above the ground it begins, for templates that only add."""
        return -self.height

    @property
    def is_full(self) -> bool:
        """Whether it takes nobody more."""
        return self.limit is not None and self.covers >= self.limit


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that the page of a day shows, as it was read at `now`."""

    work: Work
    visits: list[Visit]
    tables: list[Table]
    now: datetime
    first: datetime = field(init=False)
    columns: int = field(init=False)

    @classmethod
    def of(cls, work: Work, *, now: datetime) -> Self:
        """Read who comes on this day. Three queries."""
        venue = work.venue
        tables = Table.objects.filter(venue=venue).select_related("area")
        rows = (
            Reservation.objects.filter(
                venue=venue, starts_at__gte=work.starts_at - LONGEST_STAY, starts_at__lt=work.ends_at
            )
            .annotate(is_unreached=waitlist.unreached(now=now))
            .order_by("starts_at", "id")
        )
        found: list[Any] = list(rows[: 2 * MOST])
        seated: dict[UUID, list[Seating]] = {}
        for seating in Seating.objects.filter(reservation__in=[one.pk for one in found]):
            seated.setdefault(seating.reservation_id, []).append(seating)
        visits = []
        for reservation in found:
            reservation.venue = venue
            stage = stage_of(reservation, now=now)
            is_carried = reservation.starts_at < work.starts_at
            if is_carried and (reservation.ends_at <= work.starts_at or stage in OVER or not reservation.tables):
                continue
            visits.append(
                Visit(
                    reservation=reservation,
                    stage=stage,
                    steps=steps_of(reservation, now=now),
                    seatings=seated.get(reservation.pk, []),
                    is_unreached=reservation.is_unreached,
                    is_carried=is_carried,
                    public_id=reservation.public_id,
                )
            )
        return cls(work=work, visits=visits[:MOST], tables=sorted(tables, key=by_place), now=now)

    def __post_init__(self) -> None:
        first, last = self.axis()
        object.__setattr__(self, "first", first)
        object.__setattr__(self, "columns", min((last - first) // COLUMN, MOST_COLUMNS))

    def axis(self) -> tuple[datetime, datetime]:
        """From the hour of the first to the end of the last that happens."""
        shown = [visit.reservation for visit in self.visits if visit.stage not in (Stage.CANCELLED, Stage.NO_SHOW)]
        begins = [slot.starts_at for slot in self.work.slots] + [one.starts_at for one in shown]
        ends = [slot.ends_at(2) for slot in self.work.slots] + [one.ends_at for one in shown]
        if not begins:
            zone = ZoneInfo(self.work.venue.timezone)
            begins, ends = ([datetime.combine(self.work.day, at, zone).astimezone(UTC)] for at in IDLE_HOURS)
        first = max(min(begins), self.work.starts_at)
        first -= timedelta(minutes=self.wall(first).minute)
        last = max(*ends, first + HOUR)
        return first, last + (-(last - first) % HOUR)

    def wall(self, moment: datetime) -> datetime:
        """What the venue's clock shows."""
        return moment.astimezone(ZoneInfo(self.work.venue.timezone))

    def column_of(self, moment: datetime) -> int:
        """The column in which a moment falls, or the nearest that is shown."""
        return min(max((moment - self.first) // COLUMN, 0), self.columns - 1)

    def tick(self, starts_at: datetime, ends_at: datetime, label: str = "") -> Tick:
        """A stretch of time as columns."""
        column = self.column_of(starts_at)
        end = self.column_of(ends_at - COLUMN) + 1
        return Tick(column, max(end - column, 1), label)

    @property
    def hours(self) -> list[Tick]:
        """The hours by the venue's clock."""
        return [
            Tick(column, min(12, self.columns - column), f"{self.wall(self.first + column * COLUMN):%H:%M}")
            for column in range(0, self.columns, 12)
        ]

    @property
    def shut(self) -> list[Tick]:
        """When nobody is seated."""
        end = self.first + self.columns * COLUMN
        edges = [self.first, *(moment for span in self.work.open_spans for moment in span), end]
        return [self.tick(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]

    @property
    def services(self) -> list[Tick]:
        """The service periods, from the first to the last seating."""
        spans: dict[Any, list[Slot]] = {}
        for slot in self.work.slots:
            spans.setdefault(slot.period.pk, []).append(slot)
        return [
            self.tick(
                slots[0].starts_at,
                slots[-1].starts_at + timedelta(minutes=slots[-1].period.slot_min),
                f"{slots[0].period.name} {slots[0].time:%H:%M} to {slots[-1].time:%H:%M}",
            )
            for slots in spans.values()
        ]

    @property
    def bars(self) -> list[Bar]:
        """How many guests begin at each slot."""
        counted = []
        coming = [visit.reservation for visit in self.visits if visit.is_coming]
        for slot in self.work.slots:
            end = slot.starts_at + timedelta(minutes=slot.period.slot_min)
            covers = sum(one.party_size for one in coming if slot.starts_at <= one.starts_at < end)
            counted.append((slot, end, covers))
        most = max([1, *(covers for *_, covers in counted), *(slot.period.pacing_covers or 0 for slot, *_ in counted)])
        return [
            Bar(
                column=(tick := self.tick(slot.starts_at, end)).column,
                span=tick.span,
                at=f"{slot.time:%H:%M}",
                covers=covers,
                limit=slot.period.pacing_covers,
                height=round(20 * covers / most),
            )
            for slot, end, covers in counted
        ]

    @property
    def now_column(self) -> int | None:
        """Where the line of this moment stands; None where it is not on the sheet."""
        return self.column_of(self.now) if self.first <= self.now < self.first + self.columns * COLUMN else None

    @property
    def covers(self) -> int:
        """How many guests come, or have come."""
        return sum(visit.reservation.party_size for visit in self.visits if visit.is_coming)

    @property
    def parties(self) -> int:
        """How many parties that are."""
        return sum(visit.is_coming for visit in self.visits)

    @property
    def listed(self) -> list[Visit]:
        """Who comes, by time."""
        return [visit for visit in self.visits if visit.stage != Stage.CANCELLED and not visit.is_carried]

    @property
    def cancelled(self) -> list[Visit]:
        """Who does not come any more."""
        return [visit for visit in self.visits if visit.stage == Stage.CANCELLED and not visit.is_carried]

    @property
    def requests(self) -> list[Visit]:
        """Who waits for the staff's word."""
        return [visit for visit in self.visits if visit.stage in UNDECIDED and not visit.is_carried]

    @property
    def waiting(self) -> list[Visit]:
        """Who waits for a table, in the order of their turns."""
        on_it = [visit for visit in self.visits if visit.stage in ON_THE_LIST and not visit.is_carried]
        return sorted(on_it, key=lambda visit: (visit.reservation.offers, visit.reservation.created_at))

    @property
    def waiting_count(self) -> int:
        """How many parties wait for a table."""
        return len(self.waiting)

    @property
    def next_to_come(self) -> list[Visit]:
        """Who is awaited, soonest first."""
        return [visit for visit in self.visits if visit.stage in AWAITED and not visit.is_carried]

    @property
    def has_tables(self) -> bool:
        """Whether there is anything to draw a grid of."""
        return any(table.is_active for table in self.tables)

    def block(self, visit: Visit, starts_at: datetime, ends_at: datetime, **more: Any) -> Block:
        """The visit as columns."""
        tick = self.tick(starts_at, ends_at)
        return Block(visit=visit, column=tick.column, span=tick.span, **more)

    @property
    def rows(self) -> list[Row]:
        """The tables with who sits there, area by area; before them who has no table yet."""
        at: dict[UUID, list[Block]] = {}
        for visit in self.visits:
            for seating in visit.seatings:
                others = ", ".join(visit.reservation.tables) if len(visit.seatings) > 1 else ""
                its = self.block(visit, seating.during.lower, seating.during.upper, others=others)
                at.setdefault(seating.table_id, []).append(its)
        rows = [Row(None, list(self.unseated()))]
        area: Any = ()
        for table in self.tables:
            if table.is_active or table.pk in at:
                rows.append(Row(table, at.get(table.pk, []), starts_area=table.area_id not in (None, area)))
                area = table.area_id
        return rows if rows[0].blocks else rows[1:]

    def unseated(self) -> Iterator[Block]:
        """Who comes and has no table, each in the first lane that is free."""
        ends: list[int] = []
        for visit in self.visits:
            if visit.seatings or visit.stage in OVER or visit.is_carried:
                continue
            tick = self.tick(visit.reservation.starts_at, visit.reservation.ends_at)
            lane = next((lane for lane, end in enumerate(ends) if end <= tick.column), len(ends))
            ends[lane : lane + 1] = [tick.column + tick.span]
            yield Block(visit=visit, column=tick.column, span=tick.span, lane=min(lane, MOST_LANES - 1))


def by_place(table: Table) -> tuple[Any, ...]:
    """Tables as people walk past them: by area, then T2 before T10."""
    area = table.area
    parts = [(part.isdigit(), part.zfill(8)) for part in re.split(r"(\d+)", table.name) if part]
    return (area is None, area.position if area else 0, area.name if area else "", parts)


def seen(work: Work, *, now: datetime) -> str:
    """What a page of this day would show, in short: equal for as long as nothing has changed. One query.

    Every five minutes it is another, as time itself makes guests late.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            SEEN,
            {
                "venue": work.venue.pk,
                "day": work.day,
                "since": work.starts_at - LONGEST_STAY,
                "until": work.ends_at,
            },
        )
        (digest,) = cursor.fetchone()
    return f"{digest}.{int(now.timestamp()) // 300}"
