"""The versions of one restaurant, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Subquery

from catalogue import places
from catalogue.history.json_patch import Operation, labels, operations
from catalogue.models import Version
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import Listing

NEWEST = 10


@dataclass(frozen=True, slots=True)
class Entry:
    """One version: from when to when it was the present one (None: it still is), who made it, and what changed.

    `patch` makes it out of the version before.
    """

    version: int
    valid_from: datetime
    valid_to: datetime | None
    actor: str
    change: str
    patch: list[Operation]


def page(slug: str, *, limit: int, now: datetime, cursor: str | None = None) -> Listing[Entry]:
    """The versions of a restaurant, newest first. Three queries. Raises what identity.place raises, and InvalidCursor."""
    restaurant = places.find_place(slug)
    question = pagination_cursor.fingerprint("history", restaurant.pk, limit)
    start = pagination_cursor.decode_cursor(cursor, question=question, now=now) if cursor else None
    as_of = start.as_of if start else now
    found = _entries(restaurant.pk, below=int(start.after[0]) if start else None, most=limit + 1)
    rows = found[:limit]
    following = (
        pagination_cursor.encode_cursor([rows[-1].version], as_of=as_of, question=question)
        if len(found) > limit
        else None
    )
    return Listing(rows=rows, limit=limit, next_cursor=following, as_of=as_of)


def newest(restaurant: UUID) -> list[Entry]:
    """The newest versions of a restaurant. Two queries."""
    return _entries(restaurant, below=None, most=NEWEST)


def has_changes(entries: Sequence[Entry]) -> bool:
    """Whether they tell any change: that a restaurant is here is told by its record."""
    return any(entry.patch for entry in entries)


def kind_of(actor: str) -> str:
    """Who that was, as far as it is anybody's business: of people only what they are to us."""
    return actor if actor.startswith("import:") else actor.partition(":")[0]


def _entries(restaurant: UUID, *, below: int | None, most: int) -> list[Entry]:
    next_one = Version.objects.filter(restaurant=OuterRef("restaurant"), version=OuterRef("version") + 1)
    versions: Any = Version.objects.filter(restaurant=restaurant).annotate(until=Subquery(next_one.values("at")[:1]))
    if below is not None:
        versions = versions.filter(version__lt=below)
    found = list(versions.order_by(F("version").desc())[:most])
    label = labels(version.patch for version in found)
    return [
        Entry(
            version=version.version,
            valid_from=version.at,
            # Two clocks may differ by a little.
            valid_to=version.until and max(version.at, version.until),
            actor=kind_of(version.actor),
            change=version.kind,
            patch=operations(version.patch, label=label),
        )
        for version in found
    ]
