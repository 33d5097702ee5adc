"""Attribution lines that sources require wherever their data is shown."""

import re
from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from catalogue.models import Landmark, SourceRecord
from framework.cache import CachedValue
from framework.db import prepared_statements

# Changes by staff apply within this time, new sources at once.
MAX_AGE_S = 30.0
ALL = "SELECT key, attribution, license FROM catalogue_source"

SOURCE = re.compile(rb'"source"\s*:\s*"([\w.:-]+)"')

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
    """Return the keys of the sources that an answer in JSON names, sorted: in its attribution, and of its rows."""
    # Within a text the quotes would be escaped.
    return sorted({key.decode() for key in SOURCE.findall(body)})


def _read() -> Mapping[str, Line]:
    return {
        key: {"source": key, "text": text, "license": license_id}
        for key, text, license_id in prepared_statements.fetch_all(ALL)
    }


_cache = CachedValue(_read)
