"""Overture Maps places of any release: GeoParquet, Parquet with JSON texts, GeoJSON or a sequence of features.

The schema has `categories` until 1.x, `taxonomy` since 2.0 (docs.overturemaps.org/schema/reference/places/place).
"""

import functools
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any, BinaryIO, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from catalogue.importers.parsing import geojson, parquet, text_cleaning
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
from catalogue.search.geocoding.distance import Location

Release = Literal["base", "current"]

# Part of every digest: raise it when this module reads more columns, and the next import updates all rows.
VERSION = 2

# Below it the place more likely does not exist.
MIN_CONFIDENCE = 0.5

COLUMNS = frozenset(
    [
        "id",
        "geometry",
        "bbox",
        "names",
        "categories",
        "taxonomy",
        "basic_category",
        "confidence",
        "operating_status",
        "addresses",
        "phones",
        "websites",
        "brand",
        "sources",
    ]
)
# A file with two releases side by side has the columns of the older one with this prefix.
BASE_PREFIX = "base_"
# Columns of objects or lists, which a file may have as JSON texts.
NESTED_COLUMNS = COLUMNS - {"id", "geometry", "basic_category", "confidence", "operating_status"}
ABSENT = "not in this release"
NOT_OVERTURE = "These are no Overture places: `id`, `names`, `categories` or `taxonomy` is missing."
# The order of a bounding box in GeoJSON.
BOX_SIDES = ("xmin", "ymin", "xmax", "ymax")

STATUSES = {
    "open": Restaurant.Status.OPEN,
    "temporarily_closed": Restaurant.Status.TEMPORARILY_CLOSED,
    "permanently_closed": Restaurant.Status.PERMANENTLY_CLOSED,
}
# The licence of each dataset if a row has none (docs.overturemaps.org/attribution).
LICENSES = {"foursquare": "Apache-2.0", "alltheplaces": "CC0-1.0"}
OWN_LICENSE = "CDLA-Permissive-2.0"

_QID = re.compile(r"Q[1-9][0-9]*", re.ASCII)


def read_rows(stream: BinaryIO, *, release: Release | None = None) -> Iterator[dict[str, Any] | str | None]:
    """Yield each row of a release; None for one that is no eatery, a text for one that is not in the release.

    `release` selects one of a file with two. Raises UnreadableFileError.
    """
    is_parquet = stream.read(4) == b"PAR1"
    stream.seek(-4, 1) if is_parquet else stream.seek(0)
    if not is_parquet:
        if release:
            raise UnreadableFileError("The file holds one release: leave --release out.")
        return geojson.read_features(stream)
    file = parquet.open_file(stream)
    names = set(file.schema_arrow.names)
    if not {"id", "names"} <= names or not {"categories", "taxonomy", "basic_category"} & names:
        raise UnreadableFileError(NOT_OVERTURE)
    is_compared = BASE_PREFIX + "names" in names
    if is_compared and release is None:
        raise UnreadableFileError("The file holds two releases: choose one with --release base or current.")
    if release and not is_compared:
        raise UnreadableFileError("The file holds one release: leave --release out.")
    return _read_compared(file, release) if is_compared else _read_rows(file)


def extract(content: Any) -> ExtractedRecord:
    """Extract the record of a row. Raises RowRejected, HotelFound, and RowSkipped for no eatery of the release."""
    if content is None:
        raise RowSkipped(NOT_AN_EATERY)
    if isinstance(content, str):
        raise RowSkipped(content)
    row = _parse_json_columns(_flatten_feature(content))
    if _map_category(row) is None:
        name = _as_text(_as_object(row.get("names")).get("primary"))
        is_open = _parse_status(row) == Restaurant.Status.OPEN
        if name and is_open and is_hotel(next(iter(_category_paths(row)), ())):
            raise HotelFound(clean_content(name), _parse_location(row))
        raise RowSkipped(NOT_AN_EATERY)
    record, values = _as_text(row.get("id")), _extract_content(row)
    values = clean_content(values)
    if not record or len(record) > 120:
        raise RowRejected("id: 1 to 120 characters are expected.")
    text_cleaning.check_name(values["name"])
    location = _parse_location(row)
    place = (location.lat, location.lng) if location else None
    return ExtractedRecord(
        record=record,
        digest=hash_content(VERSION, values, place),
        location=location,
        content=values,
        country=text_cleaning.parse_country(values["address"].get("country")),
    )


def parse(extracted: ExtractedRecord, *, market: Market, on: date) -> ParsedPlace:  # it has no dated content
    values = extracted.content
    category = map_categories([tuple(path) for path in values["paths"]]) or FoodCategory("restaurant")
    address = values["address"]
    return build_place(
        extracted,
        market=market,
        name=values["name"].strip(),
        alt_names=[
            name for each in values["names"] if (name := text_cleaning.fit_text(each, 200)) and name != values["name"]
        ],
        status=values["status"],
        line1=address.get("freeform"),
        locality=address.get("locality"),
        region=_parse_region(address.get("region")),
        postal_code=address.get("postcode"),
        country=address.get("country"),
        phone=text_cleaning.first_phone(values["phones"], country=market.country),
        website=text_cleaning.first_website(values["websites"]),
        cuisine_labels=category.cuisine_labels,
        attributes=category.attributes,
        external_ids=_build_external_ids(extracted.record, values),
    )


def _read_compared(file: pq.ParquetFile, release: Release | None) -> Iterator[dict[str, Any] | str]:
    """Yield the rows of one of two releases. A place without confidence or names is not in the release."""
    prefix = BASE_PREFIX if release == "base" else ""
    columns = {prefix + name: name for name in COLUMNS if prefix + name in file.schema_arrow.names}
    required = [name for name in ("names", "confidence") if prefix + name in columns]
    for batch in parquet.read_batches(file, columns):
        for row in batch.to_pylist():
            values = {name: row[column] for column, name in columns.items()}
            yield ABSENT if any(values[name] is None for name in required) else values


def _read_rows(file: pq.ParquetFile) -> Iterator[dict[str, Any] | None]:
    """Rows that are no eateries are not converted to dictionaries: they are most of a release."""
    for batch in parquet.read_batches(file, COLUMNS):
        yield from parquet.to_dicts(batch, _find_eateries(batch))


def _flatten_feature(content: Any) -> dict[str, Any]:
    """Return a row, or the properties of a GeoJSON feature with its id and geometry. Raises RowRejected."""
    if not isinstance(content, dict):
        raise RowRejected("The row is no object.")
    properties = content.get("properties")
    if content.get("type") != "Feature" or not isinstance(properties, dict):
        return content
    return {"id": content.get("id"), **properties, "geometry": content.get("geometry")}


def _find_eateries(batch: pa.RecordBatch) -> pa.Array | None:
    """Return a mask of the rows that may be eateries; None if each row has to be looked at."""
    masks = []
    for name in ("taxonomy", "categories"):
        if name not in batch.schema.names:
            continue
        kind = batch.schema.field(name).type
        if not pa.types.is_struct(kind) or not _has_text_primary(kind):
            # Each row is rejected with its own reason.
            return None
        # The fields of a null struct are not null.
        column = batch.column(name)
        primary = pc.if_else(pc.is_valid(column), pc.struct_field(column, "primary"), None)
        # An unknown category of a taxonomy may have a known parent.
        is_known = name == "categories"
        masks.append(parquet.is_any_of(primary, _is_eatery_word) if is_known else pc.is_valid(primary))
    if "basic_category" in batch.schema.names:
        masks.append(pc.is_valid(batch.column("basic_category")))
    return functools.reduce(pc.or_, masks) if masks else None


def _is_eatery_word(word: str) -> bool:
    return map_categories([(word,)]) is not None or is_hotel((word,))


def _has_text_primary(categories: pa.StructType) -> bool:
    index = categories.get_field_index("primary")
    if index < 0:
        return False
    kind = categories.field(index).type
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary))


def _category_paths(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the category paths, the main one first. Raises RowRejected."""
    taxonomy, categories = row.get("taxonomy"), row.get("categories")
    for name, value in (("taxonomy", taxonomy), ("categories", categories)):
        if isinstance(value, dict) and not isinstance(value.get("primary"), str | None):
            raise RowRejected(f"{name}.primary: a text is expected.")
    if isinstance(taxonomy, dict) and taxonomy.get("primary"):
        hierarchy = text_cleaning.filter_texts(taxonomy.get("hierarchy"))
        above = [each for each in (row.get("basic_category"),) if isinstance(each, str)]
        main = tuple(dict.fromkeys([*above, *hierarchy, taxonomy["primary"]]))
        # The main category comes last, whatever the hierarchy says.
        main = (*(each for each in main if each != taxonomy["primary"]), taxonomy["primary"])
        return [main, *((each,) for each in text_cleaning.filter_texts(taxonomy.get("alternates")))]
    if isinstance(categories, dict) and isinstance(categories.get("primary"), str):
        return [
            (categories["primary"],),
            *((each,) for each in text_cleaning.filter_texts(categories.get("alternate"))),
        ]
    if isinstance(row.get("basic_category"), str):
        return [(row["basic_category"],)]
    return []


def _map_category(row: Mapping[str, Any]) -> FoodCategory | None:
    """Map the main category; a petrol station with a bar is no eatery."""
    paths = _category_paths(row)
    return map_categories(paths[:1])


def _extract_content(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return all values that are parsed; the digest covers exactly these."""
    names, brand = _as_object(row.get("names")), _as_object(row.get("brand"))
    addresses = row.get("addresses")
    return {
        "name": _as_text(names.get("primary")),
        "names": list(dict.fromkeys(_read_translations(names.get("common")))),
        "paths": _category_paths(row),
        "status": _parse_status(row),
        "address": _as_object(addresses[0]) if isinstance(addresses, list) and addresses else {},
        "phones": text_cleaning.filter_texts(row.get("phones")),
        "websites": text_cleaning.filter_texts(row.get("websites")),
        "brand": _as_text(brand.get("wikidata")),
        "datasets": _list_datasets(row.get("sources")),
    }


def _read_translations(common: object) -> list[str]:
    """Return the names in other languages; Parquet reads a map as a list of pairs."""
    if isinstance(common, dict):
        return [name for _, name in sorted(common.items()) if isinstance(name, str)]
    pairs: Sequence[Any] = common if isinstance(common, list) else ()
    return [pair[1] for pair in pairs if isinstance(pair, tuple) and isinstance(pair[1], str)]


def _parse_status(row: Mapping[str, Any]) -> str:
    """A confidence of 0 means that the place does not exist any more."""
    operating_status, confidence = row.get("operating_status"), row.get("confidence")
    status = (
        STATUSES.get(operating_status, Restaurant.Status.UNVERIFIED)
        if isinstance(operating_status, str)
        else Restaurant.Status.OPEN
    )
    if isinstance(confidence, int | float) and status == Restaurant.Status.OPEN:
        if confidence == 0:
            return Restaurant.Status.PERMANENTLY_CLOSED
        if confidence < MIN_CONFIDENCE:
            return Restaurant.Status.UNVERIFIED
    return status


def _list_datasets(sources: object) -> list[str]:
    """Return the datasets of a place with their licences: "meta (CDLA-Permissive-2.0)"."""
    rows = [each for each in sources if isinstance(each, dict)] if isinstance(sources, list) else []
    named = [(each["dataset"], each.get("license")) for each in rows if isinstance(each.get("dataset"), str)]
    return sorted({f"{name} ({terms or LICENSES.get(name.casefold(), OWN_LICENSE)})" for name, terms in named})


def _parse_location(row: Mapping[str, Any]) -> Location | None:
    """Return the point (well-known binary, GeoJSON or x and y), else the centre of the bounding box, else None.

    Raises RowRejected.
    """
    geometry, box = row.get("geometry"), row.get("bbox")
    match geometry:
        case bytes():
            lng, lat = _parse_wkb_point(geometry)
            return read_location(lat, lng)
        case {"type": _}:
            return geojson.find_point(geometry)
        case {"x": lng, "y": lat}:
            return read_location(lat, lng)
    if isinstance(box, list) and len(box) == len(BOX_SIDES):
        box = dict(zip(BOX_SIDES, box, strict=True))
    if isinstance(box, dict) and all(isinstance(box.get(side), int | float) for side in BOX_SIDES):
        return read_location((box["ymin"] + box["ymax"]) / 2, (box["xmin"] + box["xmax"]) / 2)
    return None


def _parse_wkb_point(wkb: bytes) -> tuple[float, float]:
    """Return longitude and latitude of a point in well-known binary. Raises RowRejected."""
    try:
        order = {0: ">", 1: "<"}[wkb[0]]
        (kind,) = struct.unpack_from(f"{order}I", wkb, 1)
        # The flags of the extended kind: Z, M, and a reference system in four bytes.
        if kind & 0x0FFFFFFF not in (1, 1001, 2001, 3001):
            raise RowRejected("The geometry is no point.")
        return struct.unpack_from(f"{order}2d", wkb, 9 if kind & 0x20000000 else 5)
    except (IndexError, KeyError, struct.error) as error:
        raise RowRejected("The geometry is broken.") from error


def _parse_region(region: object) -> str | None:
    """Return "NY" for "US-NY"."""
    return re.sub(r"^[A-Z]{2}-", "", region) if isinstance(region, str) else None


def _build_external_ids(record: str, values: Mapping[str, Any]) -> dict[str, str]:
    ids = {"overture": record}
    if _QID.fullmatch(values["brand"]):
        ids["brand_wikidata"] = values["brand"]
    if datasets := text_cleaning.fit_text("; ".join(values["datasets"]), 200):
        ids["overture_datasets"] = datasets
    return ids


def _parse_json_columns(row: dict[str, Any]) -> dict[str, Any]:
    """Parse the columns that are JSON texts. Raises RowRejected."""
    values = dict(row)
    for name in NESTED_COLUMNS.intersection(row):
        if isinstance(row[name], str):
            try:
                values[name] = json.loads(row[name])
            except (ValueError, RecursionError) as error:
                raise RowRejected(f"{name} is no JSON: {error}.") from error
    return values


def _as_object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def select_release(release: Release | None) -> SourceReader:
    """Return the reader of one release; None for files that hold one."""
    rows = functools.partial(read_rows, release=release)
    return SourceReader("overture", rows, extract, parse, is_complete=True, is_worldwide=True)


READER = select_release(None)
