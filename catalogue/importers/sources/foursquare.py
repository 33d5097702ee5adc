"""Foursquare Open Source Places as Parquet (docs.foursquare.com/data-products/docs/places-os-data-schema)."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, BinaryIO

from catalogue.importers.parsing import parquet, text_cleaning
from catalogue.importers.parsing.category_mapping import Kitchen, kitchens, label
from catalogue.importers.parsing.parsed_place import Place, Sketch, read_location
from catalogue.importers.row_errors import RejectedError, UnreadableFileError, check_storable, digest_of
from catalogue.models import Market, Restaurant

SOURCE = "foursquare"
IS_COMPLETE = True
IS_WORLDWIDE = True
IS_GROUPED = False

# Part of every digest: raise it when this module reads more than before, and the next import reads all rows anew.
VERSION = 1

ROOT = "Dining and Drinking"
# What is read beside the place and the categories; `date_refreshed` is not, for it changes with nothing else.
READ = ("name", "address", "locality", "region", "postcode", "country", "tel", "website", "fsq_category_labels")
COLUMNS = frozenset((*READ, "fsq_place_id", "latitude", "longitude", "date_closed"))


def rows(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """Each row. Raises UnreadableFileError."""
    file = parquet.open_file(stream)
    missing = COLUMNS.difference(file.schema_arrow.names)
    if missing:
        raise UnreadableFileError(f"These are no Foursquare places: {', '.join(sorted(missing))} is missing.")
    return (row for batch in parquet.batches(file, COLUMNS) for row in batch.to_pylist())


def sketch(content: Any) -> Sketch | None:
    """Which record a row is; None when it is no place to eat. Raises RejectedError."""
    if _kitchen(content) is None:
        return None
    read = {name: content.get(name) for name in READ} | {"is_closed": content.get("date_closed") is not None}
    check_storable(read)
    record = content.get("fsq_place_id")
    if not isinstance(record, str) or not 1 <= len(record) <= 120:
        raise RejectedError("fsq_place_id: 1 to 120 characters are expected.")
    if not text_cleaning.fitting(read["name"], 200):
        raise RejectedError("The place has no name, or one that is longer than 200 characters or no line.")
    lat, lng = content.get("latitude"), content.get("longitude")
    location = None if lat is None and lng is None else read_location(lat, lng)
    return Sketch(
        record=record,
        digest=digest_of(VERSION, read, *((location.lat, location.lng) if location else (None, None))),
        location=location,
        content=read,
        country=_country(read),
    )


def read(sketch: Sketch, *, market: Market, on: date) -> Place:  # nothing of it is dated
    """All that the row states."""
    stated = sketch.content
    found = _kitchen(stated) or Kitchen("restaurant")
    return Place(
        record=sketch.record,
        digest=sketch.digest,
        name=stated["name"].strip(),
        status=Restaurant.Status.PERMANENTLY_CLOSED if stated["is_closed"] else Restaurant.Status.OPEN,
        market_id=market.slug,
        line1=text_cleaning.fitting(stated["address"], 200),
        locality=text_cleaning.fitting(stated["locality"], 120),
        region=text_cleaning.fitting(stated["region"], 120),
        postal_code=text_cleaning.fitting(stated["postcode"], 20),
        country=_country(stated) or market.country,
        latitude=sketch.location.lat if sketch.location else None,
        longitude=sketch.location.lng if sketch.location else None,
        phone=text_cleaning.first_phone([stated["tel"]], country=market.country),
        website=text_cleaning.first_website([stated["website"]]),
        cuisines=list(found.cuisines),
        cuisine_labels={slug: label(slug) for slug in found.cuisines},
        attributes=found.attributes,
        external_ids={"foursquare": sketch.record},
    )


def _kitchen(row: Mapping[str, Any]) -> Kitchen | None:
    """What its categories beneath "Dining and Drinking" feed people with."""
    labels = text_cleaning.texts(row.get("fsq_category_labels"))
    paths = [[part.strip() for part in each.split(">")] for each in labels]
    return kitchens([path for path in paths if path[0] == ROOT])


def _country(row: Mapping[str, Any]) -> str | None:
    country = row["country"].upper() if isinstance(row["country"], str) else ""
    return country if re.fullmatch("[A-Z]{2}", country) else None
