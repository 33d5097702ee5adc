"""The product's own dictionaries, from catalogue/data/: sources, markets, cuisines, attributes, known landmarks."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from uuid import NAMESPACE_URL, UUID, uuid5

from django.db import connection, transaction

from catalogue.models import Attribute, Cuisine, Landmark, LandmarkName, Market, Source
from catalogue.read_model import rebuild
from catalogue.search.text import labels as text_labels

DIRECTORY = Path(__file__).parent / "data"
OWN = "tablewire"

# A cuisine that has labels has them from staff, or from here.
LABEL = """
UPDATE catalogue_cuisine AS cuisine SET labels = given.labels
FROM unnest(%s::text[], %s::jsonb[]) AS given (slug, labels)
WHERE cuisine.slug = given.slug AND cuisine.labels = '{}'
"""


def read(name: str) -> list[dict[str, str]]:
    """The rows of catalogue/data/<name>.csv, in the file's order."""
    with (DIRECTORY / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True, slots=True)
class Labelled:
    """A cuisine with its label in the language that was asked for."""

    slug: str
    label: str


def cuisines(*, lang: str | None = None) -> list[Labelled]:
    """All cuisines by slug, labelled in a language of ISO 639-1 where we have that, else in English. One query.

    Raises InvalidRequest for what is no language.
    """
    if lang is not None:
        text_labels.check(lang)
    rows = Cuisine.objects.order_by("slug").values_list("slug", "label", "labels")
    return [Labelled(slug, (lang and labels.get(lang)) or label) for slug, label, labels in rows]


# Each restaurant that shows an entry of a dictionary, by an index of its own.
SHOWING = {
    "source": """
        SELECT DISTINCT restaurant_id FROM catalogue_sourcerecord
        WHERE source_id = %s AND restaurant_id > %s ORDER BY restaurant_id LIMIT %s
    """,
    "cuisine": "SELECT id FROM catalogue_restaurant WHERE cuisine_id = %s AND id > %s ORDER BY id LIMIT %s",
    "market": "SELECT id FROM catalogue_restaurant WHERE market_id = %s AND id > %s ORDER BY id LIMIT %s",
}
# A second of work, and one transaction.
SLICE = 2_000


def render_restaurants(*, source: str | None = None, cuisine: str | None = None, market: str | None = None) -> int:
    """Render the restaurants anew that show one of these; how many.

    A transaction for each 2,000, by their ids: whoever dies half-way leaves whole rows, and the next begins again.
    Call it after the commit of what they show, outside of any transaction.
    """
    rendered = 0
    for kind, key in (("source", source), ("cuisine", cuisine), ("market", market)):
        after = UUID(int=0)
        while key is not None:
            with connection.cursor() as cursor:
                cursor.execute(SHOWING[kind], [key, after, SLICE])
                ids = [pk for (pk,) in cursor.fetchall()]
            if not ids:
                break
            rebuild.render(ids)
            rendered, after = rendered + len(ids), ids[-1]
    return rendered


def landmark_id(market: str, name: str) -> UUID:
    """The id of an own landmark: the same in every database, for as long as market and name stay."""
    return uuid5(NAMESPACE_URL, f"tablewire:landmark:{market}:{name}")


def load() -> None:
    """Add the rows and names of the files that are missing: eight statements in one transaction.

    What is there stays, for staff may have mended it. A concurrent load waits for this one, then adds nothing.
    """
    with transaction.atomic():
        # Every load writes in the files' order, so two of them wait for each other and cannot deadlock.
        Source.objects.bulk_create([Source(**row) for row in read("sources")], ignore_conflicts=True)
        Cuisine.objects.bulk_create([Cuisine(**row) for row in read("cuisines")], ignore_conflicts=True)
        _label_cuisines()
        Attribute.objects.bulk_create([_attribute(row) for row in read("attributes")], ignore_conflicts=True)
        Market.objects.bulk_create([_market(row) for row in read("markets")], ignore_conflicts=True)
        rows = {landmark_id(row["market"], row["name"]): row for row in read("landmarks")}
        _load_landmarks(rows)
        # Of two that fold to one (Tokyo, Tōkyō), the first is kept.
        LandmarkName.objects.bulk_create(
            [LandmarkName(landmark_id=pk, name=name) for pk, row in rows.items() for name in _names(row)],
            ignore_conflicts=True,
        )


def _label_cuisines() -> None:
    rows = read("cuisine_labels")
    labels = [json.dumps({lang: word for lang, word in row.items() if lang != "slug" and word}) for row in rows]
    with connection.cursor() as cursor:
        cursor.execute(LABEL, [[row["slug"] for row in rows], labels])


def _attribute(row: Mapping[str, str]) -> Attribute:
    return Attribute(
        key=row["key"], label=row["label"], kind=row["kind"], values=row["values"].split("|") if row["values"] else []
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
        ignore_conflicts=True,
    )


def _names(row: Mapping[str, str]) -> list[str]:
    return [row["name"], *(name for name in row["aliases"].split("|") if name)]
