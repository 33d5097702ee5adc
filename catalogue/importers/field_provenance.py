"""Which source says what of a restaurant: a record writes what it said first, and never what others or staff said."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from catalogue.importers.parsing.parsed_place import COLUMNS, Place
from catalogue.models import Restaurant, SourceRecord

# The digest of a record that the newest release of its source has no more. What it said binds nobody.
ABSENT = "absent"

# Somebody has to know that a place is shut; open is what everybody assumes.
SHUT = frozenset({Restaurant.Status.TEMPORARILY_CLOSED, Restaurant.Status.PERMANENTLY_CLOSED, Restaurant.Status.MOVED})


@dataclass(slots=True, kw_only=True)
class Claim:
    """What a source's record states of a restaurant, beside the `others` that speak of it too."""

    restaurant: Restaurant
    record: SourceRecord
    place: Place
    others: Sequence[SourceRecord] = field(default_factory=tuple)

    def settle(self, *, now: datetime) -> bool:
        """Bring the restaurant and the records to what holds now, in memory; whether the restaurant differs.

        What the record stated once and states no more is emptied, what others or staff said stays. A closure takes
        the status from whoever said that the place is open, and gives it back by saying so itself.
        """
        mine = self._claimable()
        free = mine - {_column(name) for name in self.restaurant.locked_fields}
        verified_at = self.restaurant.phone_verified_at
        self._agree_on_phone(now=now, writes="phone" in free)
        new = {column for column in free if getattr(self.restaurant, column) != getattr(self.place, column)}
        for column in new:
            setattr(self.restaurant, column, getattr(self.place, column))
        fields = [name for name in stated(self.place) if _column(name) in mine]
        if "status" in fields:
            for other in self.others:
                other.fields = [name for name in other.fields if name != "status"]
        self.record.digest, self.record.fields, self.record.updated_at = self.place.digest, fields, now
        return bool(new) or self.restaurant.phone_verified_at != verified_at

    def _claimable(self) -> set[str]:
        own = {_column(name) for name in self.record.fields}
        wanted = own.union(map(_column, stated(self.place)))
        present = [each for each in self.others if each.digest != ABSENT]
        lapsed = _columns(each for each in self.others if each.digest == ABSENT)
        mine = set()
        for column in wanted:
            rivals = [each for each in present if column in map(_column, each.fields)]
            if column == "status" and self.place.status in SHUT:
                mine.add(column)
            elif rivals:
                # Staff made one restaurant of two, and both records said it: the older one does.
                if column in own and all(self.record.pk < each.pk for each in rivals):
                    mine.add(column)
            elif column in own or column in lapsed or self._is_alone() or _is_empty(self.restaurant, column):
                mine.add(column)
        for pair in Restaurant.PAIRS:
            halves = {_column(name) for name in pair}
            if wanted & halves and not wanted & halves <= mine:
                mine -= halves
        return mine

    def _is_alone(self) -> bool:
        """Whether no other source ever spoke of it, and the restaurant was made by this record."""
        return not self.others and self.record.pk is not None

    def _agree_on_phone(self, *, now: datetime, writes: bool) -> None:
        """Two sources with one number verify it, and a number that changes is verified no more."""
        phone = self.place.phone
        if "phone_verified_at" in self.restaurant.locked_fields:
            return
        if writes and self.restaurant.phone != phone:
            self.restaurant.phone_verified_at = None
        elif phone and phone == self.restaurant.phone and self.restaurant.phone_verified_at is None:
            said = (each for each in self.others if each.digest != ABSENT and each.source_id != self.record.source_id)
            if any("phone" in each.fields for each in said):
                self.restaurant.phone_verified_at = now


def stated(place: Place) -> list[str]:
    """The fields that a place states something for."""
    return [as_field(column) for column in COLUMNS if getattr(place, column) not in (None, [], {})]


def as_field(column: str) -> str:
    return column.removesuffix("_id")


def _column(name: str) -> str:
    return f"{name}_id" if f"{name}_id" in COLUMNS else name


def _columns(records: Iterable[SourceRecord]) -> set[str]:
    return {_column(name) for each in records for name in each.fields}


def _is_empty(restaurant: Restaurant, column: str) -> bool:
    return getattr(restaurant, column) in (None, [], {}, "")
