"""Field provenance: which source record has set which field of a restaurant.

A record changes the fields that it has set itself, never those of other records or of staff.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from catalogue.importers.parsing.parsed_place import COLUMNS, ParsedPlace
from catalogue.models import Restaurant, SourceRecord

MISSING = SourceRecord.MISSING
# A closed status overrides the open status of other sources, which is often only assumed.
CLOSED_STATUSES = frozenset(
    {Restaurant.Status.TEMPORARILY_CLOSED, Restaurant.Status.PERMANENTLY_CLOSED, Restaurant.Status.MOVED}
)


@dataclass(slots=True, kw_only=True)
class RecordUpdate:
    """The new content of a source's record of a restaurant, with the `others` of the same restaurant."""

    restaurant: Restaurant
    record: SourceRecord
    place: ParsedPlace
    others: Sequence[SourceRecord] = field(default_factory=tuple)
    # By the key of a source; a lower number overrides the values of a higher one.
    ranks: Mapping[str, int] = field(default_factory=dict)
    changes_rating: bool = False

    def apply(self, *, now: datetime) -> bool:
        """Update the restaurant and the records in memory; return whether the restaurant has changed.

        Fields that the record has set and does not contain any more are emptied. A closure takes over the status from
        a record that says open, and keeps it until the same record says open.
        """
        owned = self._list_owned_columns()
        writable = owned - {_column_name(name) for name in self.restaurant.locked_fields}
        if self.restaurant.star_counts:
            # The rating is counted from reviews.
            writable -= {"rating"}
        verified_at = self.restaurant.phone_verified_at
        self._update_phone_verification(now=now, is_writable="phone" in writable)
        changed = {column for column in writable if getattr(self.restaurant, column) != getattr(self.place, column)}
        for column in changed:
            setattr(self.restaurant, column, getattr(self.place, column))
        review_count = self.place.review_count or 0
        if "rating" in writable and ("rating" in changed or self.restaurant.review_count != review_count):
            self.restaurant.review_count = review_count
            self.changes_rating = True
        fields = [name for name in list_fields(self.place) if _column_name(name) in owned]
        for other in self.others:
            if self._rank(other) > self._rank(self.record):
                other.fields = [name for name in other.fields if name not in fields]
        if "status" in fields:
            for other in self.others:
                other.fields = [name for name in other.fields if name != "status"]
        self.record.digest, self.record.fields, self.record.updated_at = self.place.digest, fields, now
        if self._updates_nearby_neighborhood() and self.restaurant.neighborhood != self.place.nearby_neighborhood:
            self.restaurant.neighborhood = self.place.nearby_neighborhood
            changed.add("neighborhood")
        return bool(changed) or self.changes_rating or self.restaurant.phone_verified_at != verified_at

    def _list_owned_columns(self) -> set[str]:
        previous = {_column_name(name) for name in self.record.fields}
        candidates = previous.union(map(_column_name, list_fields(self.place)))
        current = [each for each in self.others if each.digest != MISSING]
        released = {_column_name(name) for each in self.others if each.digest == MISSING for name in each.fields}
        # The restaurant was created by this record, and no other source has ever listed it.
        is_sole_record = not self.others and self.record.pk is not None
        owned = set()
        for column in candidates:
            holders = [each for each in current if column in map(_column_name, each.fields)]
            rivals = [each for each in holders if self._rank(each) <= self._rank(self.record)]
            if (column == "status" and self.place.status in CLOSED_STATUSES) or (holders and not rivals):
                owned.add(column)
            elif rivals:
                # Staff merged two restaurants, and both records set the field: the older record keeps it.
                if column in previous and all(
                    self._rank(each) == self._rank(self.record) and self.record.pk < each.pk for each in rivals
                ):
                    owned.add(column)
            elif (
                column in previous
                or column in released
                or is_sole_record
                or getattr(self.restaurant, column) in (None, [], {}, "")
            ):
                owned.add(column)
        for pair in Restaurant.PAIRS:
            columns = {_column_name(name) for name in pair}
            if candidates & columns and not candidates & columns <= owned:
                owned -= columns
        return owned

    def _updates_nearby_neighborhood(self) -> bool:
        """Whether nobody states the neighborhood, and the place is where the restaurant is."""
        is_stated = any("neighborhood" in each.fields for each in (self.record, *self.others))
        is_there = (self.restaurant.latitude, self.restaurant.longitude) == (self.place.latitude, self.place.longitude)
        return is_there and not is_stated and "neighborhood" not in self.restaurant.locked_fields

    def _rank(self, record: SourceRecord) -> int:
        return self.ranks.get(record.source_id, 0)

    def _update_phone_verification(self, *, now: datetime, is_writable: bool) -> None:
        """Verify a phone number that two sources have; a changed number is not verified any more."""
        phone = self.place.phone
        if "phone_verified_at" in self.restaurant.locked_fields:
            return
        if is_writable and self.restaurant.phone != phone:
            self.restaurant.phone_verified_at = None
        elif phone and phone == self.restaurant.phone and self.restaurant.phone_verified_at is None:
            other_sources = (
                each for each in self.others if each.digest != MISSING and each.source_id != self.record.source_id
            )
            if any("phone" in each.fields for each in other_sources):
                self.restaurant.phone_verified_at = now


def list_fields(place: ParsedPlace) -> list[str]:
    """Return the names of the fields that a place has values for."""
    return [field_name(column) for column in COLUMNS if getattr(place, column) not in (None, [], {})]


def field_name(column: str) -> str:
    return column.removesuffix("_id")


def _column_name(name: str) -> str:
    return f"{name}_id" if f"{name}_id" in COLUMNS else name
