"""The lines that sources ask for wherever their data is shown."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from catalogue.models import Landmark, Source, SourceRecord


def of_restaurants(slugs: Collection[str]) -> list[dict[str, Any]]:
    """The lines of all sources that speak of these restaurants, each once. Two queries, none without restaurants."""
    if not slugs:
        return []
    records = SourceRecord.objects.filter(restaurant__slug__in=slugs)
    return _lines(set(records.values_list("source", flat=True).distinct()))


def of_landmarks(ids: Collection[UUID]) -> list[dict[str, Any]]:
    """The lines of the sources of these landmarks, each once. Two queries, none without landmarks."""
    if not ids:
        return []
    return _lines(set(Landmark.objects.filter(pk__in=ids).values_list("source", flat=True).distinct()))


def _lines(keys: Collection[str]) -> list[dict[str, Any]]:
    sources = Source.objects.filter(key__in=keys).order_by("key") if keys else ()
    return [{"source": each.key, "text": each.attribution, "license": each.license} for each in sources]
