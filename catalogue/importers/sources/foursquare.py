"""Foursquare Open Source Places as Parquet (docs.foursquare.com/data-products/docs/places-os-data-schema)."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, BinaryIO

from catalogue.importers.parsing import parquet, text_cleaning
from catalogue.importers.parsing.category_mapping import FoodCategory, is_hotel, map_categories
from catalogue.importers.parsing.parsed_place import ExtractedRecord, ParsedPlace, build_place, read_location
from catalogue.importers.row_errors import (
    NOT_AN_EATERY,
    HotelFound,
    RowRejected,
    RowSkipped,
    UnreadableFileError,
    clean_content,
    hash_content,
)
from catalogue.importers.upsert import SourceReader
from catalogue.models import Market, Restaurant

# Part of every digest: raise it when this module reads more columns, and the next import updates all rows.
VERSION = 2

ROOT = "Dining and Drinking"
# `date_refreshed` is not values: it changes when nothing else does.
TEXT_COLUMNS = (
    "name",
    "address",
    "locality",
    "region",
    "postcode",
    "country",
    "tel",
    "website",
    "fsq_category_labels",
)
COLUMNS = frozenset((*TEXT_COLUMNS, "fsq_place_id", "latitude", "longitude", "date_closed"))


def read_rows(stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """Yield each row. Raises UnreadableFileError."""
    file = parquet.open_file(stream)
    missing = COLUMNS.difference(file.schema_arrow.names)
    if missing:
        raise UnreadableFileError(f"These are no Foursquare places: {', '.join(sorted(missing))} is missing.")
    return (row for batch in parquet.read_batches(file, COLUMNS) for row in batch.to_pylist())


def extract(content: Any) -> ExtractedRecord:
    """Extract the record of a row; Raises RowRejected, HotelFound, and RowSkipped if it is no eatery."""
    if _map_category(content) is None:
        name, lat, lng = (content.get(column) for column in ("name", "latitude", "longitude"))
        is_open = content.get("date_closed") is None
        if (
            isinstance(name, str)
            and lat is not None
            and is_open
            and is_hotel(next(iter(_category_paths(content)), ()))
        ):
            raise HotelFound(clean_content(name), read_location(lat, lng))
        raise RowSkipped(NOT_AN_EATERY)
    parse = {name: content.get(name) for name in TEXT_COLUMNS} | {"is_closed": content.get("date_closed") is not None}
    parse = clean_content(parse)
    record = content.get("fsq_place_id")
    if not isinstance(record, str) or not 1 <= len(record) <= 120:
        raise RowRejected("fsq_place_id: 1 to 120 characters are expected.")
    text_cleaning.check_name(parse["name"])
    lat, lng = content.get("latitude"), content.get("longitude")
    location = None if lat is None and lng is None else read_location(lat, lng)
    return ExtractedRecord(
        record=record,
        digest=hash_content(VERSION, parse, *((location.lat, location.lng) if location else (None, None))),
        location=location,
        content=parse,
        country=text_cleaning.parse_country(parse["country"]),
    )


def parse(extracted: ExtractedRecord, *, market: Market, on: date) -> ParsedPlace:  # it has no dated content
    values = extracted.content
    category = _map_category(values) or FoodCategory("restaurant")
    return build_place(
        extracted,
        market=market,
        name=values["name"].strip(),
        status=Restaurant.Status.PERMANENTLY_CLOSED if values["is_closed"] else Restaurant.Status.OPEN,
        line1=values["address"],
        locality=values["locality"],
        region=values["region"],
        postal_code=values["postcode"],
        country=values["country"],
        phone=text_cleaning.first_phone([values["tel"]], country=market.country),
        website=text_cleaning.first_website([values["website"]]),
        cuisine_labels=category.cuisine_labels,
        attributes=category.attributes,
        external_ids={"foursquare": extracted.record},
    )


def _map_category(row: Mapping[str, Any]) -> FoodCategory | None:
    """Map the categories under "Dining and Drinking"."""
    return map_categories([path for path in _category_paths(row) if path[0] == ROOT])


def _category_paths(row: Mapping[str, Any]) -> list[list[str]]:
    labels = text_cleaning.filter_texts(row.get("fsq_category_labels"))
    return [[part.strip() for part in each.split(">")] for each in labels]


READER = SourceReader("foursquare", read_rows, extract, parse, is_complete=True, is_worldwide=True)
