"""Attribution lines that sources require wherever their data is shown."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

import orjson

from catalogue.models import Landmark, SourceRecord
from framework.cache import CachedValue
from framework.db import prepared_statements

# Changes by staff apply within this time, new sources at once.
MAX_AGE_S = 30.0
ALL = "SELECT key, attribution, license FROM catalogue_source"

Line = dict[str, Any]


def attribution_lines(keys: Collection[str]) -> list[Line]:
    """Return the lines of these sources, sorted by key, at most 30 s old. One query if one is not cached."""
    if not keys:
        return []
    known = _cache.get(max_age_s=MAX_AGE_S)
    requested = sorted(set(keys))
    if not all(key in known for key in requested):
        # A source may be newer than the cache.
        known = _cache.get(max_age_s=0)
    return [known[key] for key in requested if key in known]


def restaurant_attribution(slugs: Collection[str]) -> list[Line]:
    """Return the lines of all sources of these restaurants. Two queries, none without restaurants."""
    if not slugs:
        return []
    records = SourceRecord.objects.filter(restaurant__slug__in=slugs)
    return attribution_lines(set(records.values_list("source", flat=True).distinct()))


def landmark_attribution(ids: Collection[UUID]) -> list[Line]:
    """Return the lines of all sources of these landmarks. Two queries, none without landmarks."""
    if not ids:
        return []
    return attribution_lines(set(Landmark.objects.filter(pk__in=ids).values_list("source", flat=True).distinct()))


def list_sources(body: bytes) -> list[str]:
    """Return the keys of the sources that an answer (a JSON object) names in `attribution`, sorted."""
    found: set[str] = set()
    _collect(orjson.loads(body), found)
    return sorted(found)


def _collect(value: Any, found: set[str]) -> None:
    """Collect the sources of an object and of the objects in it; lists of rows have no lines of their own."""
    if not isinstance(value, dict):
        return
    for name, member in value.items():
        if name == "attribution" and isinstance(member, list):
            found.update(line["source"] for line in member)
        else:
            _collect(member, found)


def _read() -> Mapping[str, Line]:
    return {
        key: {"source": key, "text": text, "license": license_id}
        for key, text, license_id in prepared_statements.fetch_all(ALL)
    }


_cache = CachedValue(_read)
