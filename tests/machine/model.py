"""What the management API promises of a venue's orders and reservations, in plain Python that knows no database."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

Record = dict[str, Any]

MAX_DAYS_AHEAD = 365
TURNS = ((2, timedelta(minutes=90)), (4, timedelta(minutes=105)), (6, timedelta(minutes=120)))
LONGEST_TURN = timedelta(minutes=150)


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
            "customer_id": body["customer_id"],
            "items": [
                {
                    "menu_item_id": item["menu_item_id"],
                    "name": None,
                    "quantity": item["quantity"],
                    "notes": item.get("notes", ""),
                    "unit_price": None,
                    "line_total": None,
                }
                for item in body["items"]
            ],
            "delivery_address": body.get("delivery_address"),
            "payment_method": body["payment_method"],
            "currency": self.currency,
            "subtotal": None,
            "tax": None,
            "total": None,
            "metadata": body.get("metadata", {}),
            "version": 1,
            "created_at": stamp(now),
            "updated_at": stamp(now),
            "completed_at": None,
            "cancelled_at": None,
        }

    def move_order(self, id: str, status: str, *, now: datetime, if_match: int | None = None) -> Record:  # noqa: A002
        """The order after the move; `pending` is left once."""
        order = self.orders[id]
        if if_match is not None and if_match != order["version"]:
            raise Refused(412, "version_conflict")
        if order["status"] == status:
            return order
        if order["status"] != "pending":
            raise Refused(400, "invalid_transition", "status")
        moved = {"status": status, "version": order["version"] + 1, "updated_at": stamp(now)}
        order.update(moved, **{f"{status}_at": stamp(now)})
        return order

    def starts_at(self, day: date, at: time) -> datetime:
        """The first moment at which the venue's clock shows this; refused where it never does."""
        wall = datetime.combine(day, at)
        # Clocks jump by whole quarters of an hour, and no zone is further than a day from UTC.
        for quarter in range(-4 * 26, 4 * 26):
            moment = datetime.combine(day, at, UTC) + timedelta(minutes=15 * quarter)
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
        turn = next((turn for most, turn in TURNS if party_size <= most), LONGEST_TURN)
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
            "ends_at": stamp(starts_at + turn),
            "tables": [],
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
