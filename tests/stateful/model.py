"""What the management API promises of a venue's orders and reservations, in plain Python that knows no database."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any
from zoneinfo import ZoneInfo

Record = dict[str, Any]

MAX_DAYS_AHEAD = 365
TURN_TIMES = ((2, timedelta(minutes=90)), (4, timedelta(minutes=105)), (6, timedelta(minutes=120)))
MAX_TURN = timedelta(minutes=150)
CENT = Decimal("0.01")
STAGES = ["received", "accepted", "preparing", "ready", "handed_over"]


@dataclass
class Refused(Exception):
    """The call changes nothing and is answered so."""

    status: int
    code: str
    param: str | None = None


UNKNOWN = Refused(404, "not_found")


def stamp(moment: datetime) -> str:
    """A moment as the API writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def turn_of(party_size: int) -> timedelta:
    """How long a party stays."""
    return next((turn for size, turn in TURN_TIMES if party_size <= size), MAX_TURN)


@dataclass
class Book:
    """A venue without a menu and without tables: its orders and its reservations, by their ids."""

    timezone: str
    currency: str
    orders: dict[str, Record] = field(default_factory=dict)
    reservations: dict[str, Record] = field(default_factory=dict)
    numbers: Counter[str] = field(default_factory=Counter)

    @property
    def zone(self) -> ZoneInfo:
        """The venue's clock."""
        return ZoneInfo(self.timezone)

    def place(self, body: Record, *, now: datetime) -> Record:
        """The order that this body makes, all but its id."""
        day = now.astimezone(self.zone).date().isoformat()
        self.numbers[day] += 1
        return {
            "object": "order",
            "number": self.numbers[day],
            "business_date": day,
            "status": "pending",
            "stage": "received",
            "customer_id": body["customer_id"],
            "items": [
                {
                    "menu_item_id": item["menu_item_id"],
                    "name": None,
                    "quantity": item["quantity"],
                    "notes": item.get("notes", ""),
                    "modifiers": [],
                    "unit_price": None,
                    "line_total": None,
                }
                for item in body["items"]
            ],
            "delivery_address": body.get("delivery_address"),
            "fulfilment": {
                "type": "delivery" if body.get("delivery_address") else "pickup",
                "requested_at": None,
                "table": None,
                "contact": None,
            },
            "channel": None,
            "payment_method": body["payment_method"],
            "currency": self.currency,
            "subtotal": None,
            "tax": None,
            "charges": [],
            "tip": None,
            "payment": None,
            "total": None,
            "metadata": body.get("metadata", {}),
            "version": 1,
            "created_at": stamp(now),
            "updated_at": stamp(now),
            "promised_at": None,
            "accepted_at": None,
            "preparing_at": None,
            "ready_at": None,
            "completed_at": None,
            "cancelled_at": None,
        }

    def move_order(
        self,
        id: str,  # noqa: A002
        status: str,
        *,
        now: datetime,
        if_match: int | None = None,
        param: str = "status",
    ) -> Record:
        """The order after the move; `pending` is left once."""
        order = self.orders[id]
        if if_match is not None and if_match != order["version"]:
            raise Refused(412, "version_conflict")
        if order["status"] == status:
            return order
        if order["status"] != "pending":
            raise Refused(400, "invalid_transition", param)
        moved = {"status": status, "version": order["version"] + 1, "updated_at": stamp(now)}
        order.update(moved, **{f"{status}_at": stamp(now)})
        if status == "completed":
            order["stage"] = "handed_over"
        return order

    def move_stage(self, id: str, stage: str, *, now: datetime, if_match: int | None = None) -> Record:  # noqa: A002
        """The order at another stage of the kitchen; none is left backwards, and the last completes it."""
        if stage == "handed_over":
            return self.move_order(id, "completed", now=now, if_match=if_match, param="stage")
        order = self.orders[id]
        if if_match is not None and if_match != order["version"]:
            raise Refused(412, "version_conflict")
        if order["status"] != "pending" or STAGES.index(stage) < STAGES.index(order["stage"]):
            raise Refused(400, "invalid_transition", "stage")
        if stage != order["stage"]:
            order.update(stage=stage, version=order["version"] + 1, updated_at=stamp(now))
            order[f"{stage}_at"] = stamp(now)
        return order

    def starts_at(self, day: date, at: time) -> datetime:
        """The first moment at which the venue's clock shows this; refused where it never does."""
        wall = datetime.combine(day, at)
        around = [datetime.combine(day, at, UTC) + timedelta(days=days) for days in (-1, 1)]
        # By the offset of the day before and by that of the day after; the larger one is the earlier moment.
        for offset in sorted(
            {moment.astimezone(self.zone).utcoffset() or timedelta() for moment in around}, reverse=True
        ):
            moment = datetime.combine(day, at, UTC) - offset
            if moment.astimezone(self.zone).replace(tzinfo=None) == wall:
                return moment
        raise Refused(400, "invalid_request", "time")

    def reserve(self, body: Record, *, now: datetime) -> Record:
        """The reservation that this body makes, all but its id and code."""
        day, at = date.fromisoformat(body["date"]), time.fromisoformat(body["time"])
        today = now.astimezone(self.zone).date()
        if not today <= day <= today + timedelta(days=MAX_DAYS_AHEAD):
            raise Refused(400, "invalid_request", "date")
        starts_at = self.starts_at(day, at)
        if starts_at <= now:
            raise Refused(400, "invalid_request", "time")
        party_size = body["party_size"]
        return {
            "object": "reservation",
            "status": "pending",
            "pending_reason": "manual",
            "customer_name": body["customer_name"],
            "customer_email": body.get("customer_email"),
            "customer_phone": body.get("customer_phone"),
            "date": body["date"],
            "time": body["time"],
            "party_size": party_size,
            "special_requests": body.get("special_requests", ""),
            "starts_at": stamp(starts_at),
            "ends_at": stamp(starts_at + turn_of(party_size)),
            "tables": [],
            "area": None,
            "arrival": None,
            "metadata": body.get("metadata", {}),
            "version": 1,
            "created_at": stamp(now),
            "updated_at": stamp(now),
            "cancelled_at": None,
        }

    def move_reservation(self, id: str, status: str, *, now: datetime) -> Record:  # noqa: A002
        """The reservation after the move; nothing leaves `cancelled`, nothing goes back to `pending`."""
        reservation = self.reservations[id]
        if reservation["status"] == status:
            return reservation
        if (reservation["status"], status) not in {
            ("pending", "confirmed"),
            ("pending", "cancelled"),
            ("confirmed", "cancelled"),
        }:
            raise Refused(400, "invalid_transition", "status")
        moved = {"status": status, "version": reservation["version"] + 1, "updated_at": stamp(now)}
        reservation.update(moved, pending_reason=None)
        if status == "cancelled":
            reservation["cancelled_at"] = stamp(now)
        return reservation

    def newest_first(self, status: str | None = None) -> list[Record]:
        """The list of orders."""
        found = [order for order in self.orders.values() if status in (None, order["status"])]
        return sorted(found, key=lambda order: (order["created_at"], order["id"]), reverse=True)

    def soonest_first(self, status: str | None = None, day: str | None = None) -> list[Record]:
        """The list of reservations."""
        found = [
            one for one in self.reservations.values() if status in (None, one["status"]) and day in (None, one["date"])
        ]
        return sorted(found, key=lambda one: (one["starts_at"], one["id"]))


@dataclass
class Dish:
    """What stands on a menu; prices include tax. `served` are the first time and the first after the last."""

    name: str
    price: Decimal
    tax_percent: int
    served: tuple[time, time] | None = None
    sold_out_on: date | None = None

    def is_sold_at(self, at: datetime) -> bool:
        """Whether it can be ordered at this time of the venue's clock."""
        if self.sold_out_on == at.date():
            return False
        if self.served is None:
            return True
        first, end = self.served
        return first <= at.time() < end if first < end else not end <= at.time() < first


@dataclass(frozen=True)
class Place:
    """One table, or several that are pushed together."""

    names: tuple[str, ...]
    seats_min: int
    seats_max: int


@dataclass(kw_only=True)
class House(Book):
    """A venue with a menu, tables, and one service period on some weekdays that goes on past midnight."""

    dishes: dict[str, Dish]
    # In the order in which they are given.
    places: tuple[Place, ...]
    auto_confirm_max_party: int
    first_seating: time
    last_seating: time
    slot_min: int
    weekdays: tuple[int, ...]
    closed: tuple[date, ...]

    def place(self, body: Record, *, now: datetime) -> Record:
        """The order with the menu's names and prices; refused where a line cannot be had now."""
        at = now.astimezone(self.zone)
        for position, item in enumerate(body["items"]):
            dish = self.dishes.get(item["menu_item_id"])
            if dish is None or not dish.is_sold_at(at):
                raise Refused(400, "invalid_request", f"items[{position}].menu_item_id")
        order = super().place(body, now=now)
        total = tax = Decimal(0)
        for line in order["items"]:
            dish = self.dishes[line["menu_item_id"]]
            amount = dish.price * line["quantity"]
            line |= {"name": dish.name, "unit_price": f"{dish.price:.2f}", "line_total": f"{amount:.2f}"}
            total += amount
            tax += (amount * dish.tax_percent / (100 + dish.tax_percent)).quantize(CENT, ROUND_HALF_UP)
        return order | {"subtotal": f"{total - tax:.2f}", "tax": f"{tax:.2f}", "total": f"{total:.2f}"}

    def times(self, day: date) -> dict[str, datetime]:
        """When guests are seated on a day: the time by the clock, and the moment."""
        found = {}
        for service_date in (day - timedelta(days=1), day):
            if service_date in self.closed or service_date.weekday() not in self.weekdays:
                continue
            wall = datetime.combine(service_date, self.first_seating)
            last = datetime.combine(service_date + timedelta(days=1), self.last_seating)
            while wall <= last:
                if wall.date() == day:
                    with suppress(Refused):
                        found[f"{wall:%H:%M}"] = self.starts_at(day, wall.time())
                wall += timedelta(minutes=self.slot_min)
        return found

    def free_place(self, starts_at: datetime, party_size: int) -> list[str] | None:
        """The tables that a party gets then."""
        begin, end = stamp(starts_at), stamp(starts_at + turn_of(party_size))
        taken = {
            name
            for other in self.reservations.values()
            for name in other["tables"]
            if other["starts_at"] < end and begin < other["ends_at"]
        }
        fitting = (one for one in self.places if one.seats_min <= party_size <= one.seats_max)
        return next((list(one.names) for one in fitting if not taken & set(one.names)), None)

    def rooms(self, day: date, party_size: int, *, now: datetime) -> set[str]:
        """The times of a day at which the party gets a table at once."""
        return {
            at
            for at, moment in self.times(day).items()
            if moment > now
            and party_size <= self.auto_confirm_max_party
            and self.free_place(moment, party_size) is not None
        }

    def reserve(self, body: Record, *, now: datetime) -> Record:
        """Confirmed with its tables; large parties wait for the staff; refused out of hours and without room."""
        wanted = super().reserve(body, now=now)
        moment = self.times(date.fromisoformat(body["date"])).get(body["time"])
        if moment is None:
            raise Refused(400, "outside_service_hours", "time")
        if body["party_size"] > self.auto_confirm_max_party:
            return wanted | {"pending_reason": "large_party"}
        tables = self.free_place(moment, body["party_size"])
        if tables is None:
            raise Refused(400, "slot_unavailable", "time")
        return wanted | {"status": "confirmed", "pending_reason": None, "tables": tables}

    def move_reservation(self, id: str, status: str, *, now: datetime) -> Record:  # noqa: A002
        """As anywhere; who is confirmed is seated if there is room, and who cancels frees the tables."""
        before = self.reservations[id]["status"]
        record = super().move_reservation(id, status, now=now)
        if (before, status) == ("pending", "confirmed"):
            starts_at = datetime.fromisoformat(record["starts_at"])
            record["tables"] = self.free_place(starts_at, record["party_size"]) or []
        if status == "cancelled":
            record["tables"] = []
        return record
