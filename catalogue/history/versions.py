"""The versions of one restaurant, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, OuterRef, Subquery

from catalogue import places
from catalogue.history.json_patch import Operation, load_cuisine_labels, to_json_patch
from catalogue.models import Version
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import CursorPage

MAX_NEWEST = 10


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """A version: its period of validity (`valid_to` is None for the current one), who made it, and what changed.

    `patch` transforms the previous version into it.
    """

    version: int
    valid_from: datetime
    valid_to: datetime | None
    actor: str
    change: str
    patch: list[Operation]


def list_versions(slug: str, *, limit: int, now: datetime, cursor: str | None = None) -> CursorPage[VersionEntry]:
    """Return the versions of a restaurant, newest first. Three queries. Raises what places.find_place raises, and
    InvalidCursor.
    """
    restaurant = places.find_place(slug)
    fingerprint = pagination_cursor.fingerprint("history", restaurant.pk, limit)
    start = pagination_cursor.decode_cursor(cursor, question=fingerprint, now=now) if cursor else None
    as_of = start.as_of if start else now
    entries = _entries(restaurant.pk, below=int(start.after[0]) if start else None, limit=limit + 1)
    rows = entries[:limit]
    next_cursor = None
    if len(entries) > limit:
        next_cursor = pagination_cursor.encode_cursor([rows[-1].version], as_of=as_of, question=fingerprint)
    return CursorPage(rows=rows, limit=limit, next_cursor=next_cursor, as_of=as_of)


def list_newest_versions(restaurant: UUID) -> list[VersionEntry]:
    """Return the newest versions of a restaurant. Two queries."""
    return _entries(restaurant, below=None, limit=MAX_NEWEST)


def has_changes(entries: Sequence[VersionEntry]) -> bool:
    """Whether any version has a patch; the first version of a restaurant has none."""
    return any(entry.patch for entry in entries)


def public_actor(actor: str) -> str:
    """Return the public name of an actor: the source of an import, but not the identity of a person."""
    return actor if actor.startswith("import:") else actor.partition(":")[0]


def _entries(restaurant: UUID, *, below: int | None, limit: int) -> list[VersionEntry]:
    successor = Version.objects.filter(restaurant=OuterRef("restaurant"), version=OuterRef("version") + 1)
    versions: Any = Version.objects.filter(restaurant=restaurant).annotate(until=Subquery(successor.values("at")[:1]))
    if below is not None:
        versions = versions.filter(version__lt=below)
    found = list(versions.order_by(F("version").desc())[:limit])
    label = load_cuisine_labels(version.patch for version in found)
    return [
        VersionEntry(
            version=version.version,
            valid_from=version.at,
            # Clocks of two servers may differ.
            valid_to=version.until and max(version.at, version.until),
            actor=public_actor(version.actor),
            change=version.kind,
            patch=to_json_patch(version.patch, label=label),
        )
        for version in found
    ]
