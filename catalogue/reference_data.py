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

# What exists may have been edited by staff.
# Staff may have merged a cuisine of ours into another one, whose synonym it is now.
ADD_CUISINES = """
INSERT INTO catalogue_cuisine (slug, label)
SELECT given.slug, given.label FROM unnest(%s::text[], %s::text[]) AS given (slug, label)
WHERE NOT EXISTS (SELECT FROM catalogue_cuisine AS other WHERE given.slug = ANY (other.synonyms))
ON CONFLICT DO NOTHING
"""
SET_TREE = """
UPDATE catalogue_cuisine AS cuisine SET parent_id = given.parent, synonyms = string_to_array(given.synonyms, '|')
FROM unnest(%s::text[], %s::text[], %s::text[]) AS given (slug, parent, synonyms)
WHERE cuisine.slug = given.slug AND cuisine.parent_id IS NULL AND cuisine.synonyms = '{}'
    AND (given.parent IS NOT NULL OR given.synonyms <> '')
"""
SET_LABELS = """
UPDATE catalogue_cuisine AS cuisine SET labels = given.labels
FROM unnest(%s::text[], %s::jsonb[]) AS given (slug, labels)
WHERE cuisine.slug = given.slug AND cuisine.labels = '{}'
"""


def read_csv(name: str) -> list[dict[str, str]]:
    """Return the rows of catalogue/data/<name>.csv."""
    with (DIRECTORY / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@dataclass(frozen=True, slots=True)
class LabelledCuisine:
    slug: str
    label: str


def list_cuisines(*, lang: str | None = None) -> list[LabelledCuisine]:
    """Return all cuisines, sorted by slug, labelled in a language of ISO 639-1 or else in English. One query.

    Raises InvalidRequest for an unknown language.
    """
    if lang is not None:
        text_labels.check_language(lang)
    rows = Cuisine.objects.order_by("slug").values_list("slug", "label", "labels")
    return [LabelledCuisine(slug, (lang and labels.get(lang)) or label) for slug, label, labels in rows]


# Restaurants whose record contains an entry of a dictionary, each by an index.
RESTAURANTS_SHOWING = {
    "source": """
        SELECT DISTINCT restaurant_id FROM catalogue_sourcerecord
        WHERE source_id = %s AND restaurant_id > %s ORDER BY restaurant_id LIMIT %s
    """,
    "cuisine": "SELECT id FROM catalogue_restaurant WHERE cuisine_id = %s AND id > %s ORDER BY id LIMIT %s",
    "market": "SELECT id FROM catalogue_restaurant WHERE market_id = %s AND id > %s ORDER BY id LIMIT %s",
}
# Rendered in one transaction, which takes a second.
BATCH_SIZE = 2_000


def rerender_restaurants(*, source: str | None = None, cuisine: str | None = None, market: str | None = None) -> int:
    """Render the restaurants whose record contains one of these entries again; return how many.

    One transaction for each 2,000: after a crash the next call starts from the beginning. Call it after the entry is
    committed, outside of transactions.
    """
    rendered = 0
    for kind, key in (("source", source), ("cuisine", cuisine), ("market", market)):
        after = UUID(int=0)
        while key is not None:
            with connection.cursor() as cursor:
                cursor.execute(RESTAURANTS_SHOWING[kind], [key, after, BATCH_SIZE])
                ids = [pk for (pk,) in cursor.fetchall()]
            if not ids:
                break
            rebuild.render_restaurants(ids)
            rendered, after = rendered + len(ids), ids[-1]
    return rendered


def landmark_id(market: str, name: str) -> UUID:
    """Return the id of a landmark of ours, which depends on its market and name only."""
    return uuid5(NAMESPACE_URL, f"tablewire:landmark:{market}:{name}")


def load_reference_data() -> None:
    """Add the missing rows of the files: nine statements in one transaction.

    Existing rows do not change, because staff may have edited them. Concurrent loads wait for each other.
    """
    with transaction.atomic():
        load_dictionaries()
        rows = {landmark_id(row["market"], row["name"]): row for row in read_csv("landmarks")}
        _load_landmarks(rows)
        # Of two names with the same folded form (Tokyo, Tōkyō) the first is stored.
        LandmarkName.objects.bulk_create(
            [
                LandmarkName(landmark_id=pk, name=name)
                for pk, row in rows.items()
                for name in (row["name"], *filter(None, row["aliases"].split("|")))
            ],
            ignore_conflicts=True,
        )


def load_dictionaries() -> None:
    """Add the missing sources, cuisines, attributes and markets, which everything else refers to."""
    load_vocabulary()
    Market.objects.bulk_create([Market(**row) for row in read_csv("markets")], ignore_conflicts=True)


def load_vocabulary() -> None:
    """Add the missing sources, cuisines and attributes."""
    # All loads write in the order of the files, so that two cannot deadlock.
    Source.objects.bulk_create([Source(**row) for row in read_csv("sources")], ignore_conflicts=True)
    cuisines = read_csv("cuisines")
    with connection.cursor() as cursor:
        cursor.execute(ADD_CUISINES, [[row[name] for row in cuisines] for name in ("slug", "label")])
    columns = zip(*((row["slug"], row["parent"] or None, row["synonyms"]) for row in cuisines), strict=True)
    with connection.cursor() as cursor:
        cursor.execute(SET_TREE, [list(column) for column in columns])
    _label_cuisines()
    attributes = ({**row, "values": list(filter(None, row["values"].split("|")))} for row in read_csv("attributes"))
    Attribute.objects.bulk_create([Attribute(**row) for row in attributes], ignore_conflicts=True)


def _label_cuisines() -> None:
    rows = read_csv("cuisine_labels")
    labels = [json.dumps({lang: word for lang, word in row.items() if lang != "slug" and word}) for row in rows]
    with connection.cursor() as cursor:
        cursor.execute(SET_LABELS, [[row["slug"] for row in rows], labels])


def _load_landmarks(rows: Mapping[UUID, Mapping[str, str]]) -> None:
    # A Wikidata item is unique: if an imported landmark has it, it remains there.
    used_items = set(
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
                wikidata=None if row["wikidata"] in used_items else row["wikidata"] or None,
                source_id=OWN,
            )
            for pk, row in rows.items()
        ],
        ignore_conflicts=True,
    )
