"""The lines that sources ask for wherever their data is shown."""

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from catalogue.models import Landmark, SourceRecord
from framework.cache import CachedValue
from framework.db import prepared_statements

# What staff change is told within this time; a source that they add, at once.
REMEMBERED_S = 30.0
ALL = "SELECT key, attribution, license FROM catalogue_source"

Line = dict[str, Any]


def lines(keys: Collection[str]) -> list[Line]:
    """The lines of these sources by key, as they were at most half a minute ago.

    One query where this process has none so young or does not know one of the keys, else and without keys none.
    """
    if not keys:
        return []
    known = _cache.get(max_age_s=REMEMBERED_S)
    wanted = sorted(set(keys))
    if not all(key in known for key in wanted):
        # It may be younger than what is remembered.
        known = _cache.get(max_age_s=0)
    return [known[key] for key in wanted if key in known]


def of_restaurants(slugs: Collection[str]) -> list[Line]:
    """The lines of all sources that speak of these restaurants, each once. Two queries, none without restaurants."""
    if not slugs:
        return []
    records = SourceRecord.objects.filter(restaurant__slug__in=slugs)
    return lines(set(records.values_list("source", flat=True).distinct()))


def of_landmarks(ids: Collection[UUID]) -> list[Line]:
    """The lines of the sources of these landmarks, each once. Two queries, none without landmarks."""
    if not ids:
        return []
    return lines(set(Landmark.objects.filter(pk__in=ids).values_list("source", flat=True).distinct()))


def _read() -> Mapping[str, Line]:
    return {
        key: {"source": key, "text": text, "license": its_license}
        for key, text, its_license in prepared_statements.fetch_all(ALL)
    }


_cache = CachedValue(_read)
