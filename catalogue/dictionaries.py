"""The product's own dictionaries: markets, cuisines, sources and well-known landmarks, from catalogue/data/."""

import csv
from collections.abc import Mapping
from pathlib import Path
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import transaction

from catalogue.models import Cuisine, Landmark, LandmarkName, Market, Source

DIRECTORY = Path(__file__).parent / "data"
OWN = "tablewire"


def read(name: str) -> list[dict[str, str]]:
    """The rows of catalogue/data/<name>.csv, in the file's order."""
    with (DIRECTORY / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def landmark_id(market: str, name: str) -> UUID:
    """The id of an own landmark: the same in every database, for as long as market and name stay."""
    return uuid5(NAMESPACE_URL, f"tablewire:landmark:{market}:{name}")


def load() -> None:
    """Bring the four tables and the landmarks' names to what the files say: six statements in one transaction.

    Rows that the files do not name stay as they are. A concurrent load waits for this one, then changes nothing.
    """
    with transaction.atomic():
        # Every load writes in the files' order, so two of them wait for each other and cannot deadlock.
        Source.objects.bulk_create(
            [Source(**row) for row in read("sources")],
            update_conflicts=True,
            unique_fields=["key"],
            update_fields=["name", "license", "attribution"],
        )
        Cuisine.objects.bulk_create(
            [Cuisine(**row) for row in read("cuisines")],
            update_conflicts=True,
            unique_fields=["slug"],
            update_fields=["label"],
        )
        Market.objects.bulk_create(
            [_market(row) for row in read("markets")],
            update_conflicts=True,
            unique_fields=["slug"],
            update_fields=[
                "name",
                "country",
                "timezone",
                "currency",
                "calling_code",
                "latitude",
                "longitude",
                "radius_m",
            ],
        )
        rows = {landmark_id(row["market"], row["name"]): row for row in read("landmarks")}
        _load_landmarks(rows)
        # Names that an import or staff added stay. Of two that fold to one (Tokyo, Tōkyō), the first is kept.
        LandmarkName.objects.bulk_create(
            [LandmarkName(landmark_id=pk, name=name) for pk, row in rows.items() for name in _names(row)],
            ignore_conflicts=True,
        )


def _market(row: dict[str, str]) -> Market:
    return Market(
        slug=row["slug"],
        name=row["name"],
        country=row["country"],
        timezone=row["timezone"],
        currency=row["currency"],
        calling_code=row["calling_code"],
        latitude=float(row["latitude"]),
        longitude=float(row["longitude"]),
        radius_m=int(row["radius_m"]),
    )


def _load_landmarks(rows: Mapping[UUID, Mapping[str, str]]) -> None:
    # An item of Wikidata stands once: where an import brought it first, it stays with that row.
    taken = set(
        Landmark.objects.filter(wikidata__in=[row["wikidata"] for row in rows.values() if row["wikidata"]])
        .exclude(pk__in=rows)
        .values_list("wikidata", flat=True)
    )
    Landmark.objects.bulk_create(
        [
            Landmark(
                id=pk,
                name=row["name"],
                kind=row["kind"],
                market_id=row["market"],
                latitude=float(row["latitude"]),
                longitude=float(row["longitude"]),
                prominence=int(row["prominence"]),
                wikidata=None if row["wikidata"] in taken else row["wikidata"] or None,
                source_id=OWN,
            )
            for pk, row in rows.items()
        ],
        update_conflicts=True,
        unique_fields=["id"],
        update_fields=["name", "kind", "market", "latitude", "longitude", "prominence", "wikidata", "source"],
    )


def _names(row: Mapping[str, str]) -> list[str]:
    return [row["name"], *(name for name in row["aliases"].split("|") if name)]
