"""Overture Maps places as GeoParquet, with either of its two schemas: `categories` until 1.x, `taxonomy` since 2.0."""

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, BinaryIO, ClassVar, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from catalogue.importers.parsing import parquet, text_cleaning
from catalogue.importers.parsing.category_mapping import Kitchen, kitchens, label
from catalogue.importers.parsing.parsed_place import Place, Sketch, read_location
from catalogue.importers.row_errors import RejectedError, UnreadableFileError, check_storable, digest_of
from catalogue.models import Market, Restaurant
from catalogue.search.geocoding.distance import Location

Release = Literal["base", "current"]

# Part of every digest: raise it when this module reads more than before, and the next import reads all rows anew.
VERSION = 1

# Below it the source itself thinks it more likely that the place does not exist.
LEAST_CONFIDENCE = 0.5

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
# A file that compares two releases holds the columns as texts of JSON, those of the older one with this prefix.
OLDER = "base_"
COMPARED = ("id", "names", "categories", "confidence", "addresses", "phones", "websites", "brand", "sources")
# What cannot be read of a row.
BROKEN = "broken"
# Rows of such a file that are pairs of something else than two releases.
RELEASES_OF = "overture_nyc"

STATUSES = {
    "open": Restaurant.Status.OPEN,
    "temporarily_closed": Restaurant.Status.TEMPORARILY_CLOSED,
    "permanently_closed": Restaurant.Status.PERMANENTLY_CLOSED,
}
# What each dataset is under, where a row does not say (docs.overturemaps.org/attribution).
LICENSES = {"foursquare": "Apache-2.0", "alltheplaces": "CC0-1.0"}
OWN_LICENSE = "CDLA-Permissive-2.0"

_QID = re.compile(r"Q[1-9][0-9]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Overture:
    """Reads one release; `release` says which one of a file that holds two side by side."""

    release: Release | None = None

    SOURCE: ClassVar[str] = "overture"
    IS_COMPLETE: ClassVar[bool] = True
    IS_WORLDWIDE: ClassVar[bool] = True
    IS_GROUPED: ClassVar[bool] = False

    def rows(self, stream: BinaryIO) -> Iterator[dict[str, Any] | None]:
        """Each row; None for one that is no place to eat. Raises UnreadableFileError."""
        file = parquet.open_file(stream)
        names = set(file.schema_arrow.names)
        if not {"id", "names"} <= names or not {"categories", "taxonomy"} & names:
            raise UnreadableFileError(
                "These are no Overture places: `id`, `names`, `categories` or `taxonomy` is missing."
            )
        is_compared = OLDER + "names" in names
        if is_compared and self.release is None:
            raise UnreadableFileError("The file holds two releases: choose one with --release base or current.")
        if self.release and not is_compared:
            raise UnreadableFileError("The file holds one release: leave --release out.")
        return self._compared(file) if is_compared else _rows(file)

    def sketch(self, content: Any) -> Sketch | None:
        """Which record a row is; None when it is no place to eat. Raises RejectedError."""
        if content is None:
            return None
        if BROKEN in content:
            raise RejectedError(content[BROKEN])
        if _kitchen(content) is None:
            return None
        record, read = _text(content.get("id")), _read_parts(content)
        check_storable(read)
        if not record or len(record) > 120:
            raise RejectedError("id: 1 to 120 characters are expected.")
        if not text_cleaning.fitting(read["name"], 200):
            raise RejectedError("The place has no name, or one that is longer than 200 characters or no line.")
        location = _location(content)
        place = (location.lat, location.lng) if location else None
        return Sketch(
            record=record,
            digest=digest_of(VERSION, read, place),
            location=location,
            content=read,
            country=_country(read),
        )

    def read(self, sketch: Sketch, *, market: Market, on: date) -> Place:  # nothing of it is dated
        """All that the row states."""
        read = sketch.content
        found = kitchens([tuple(path) for path in read["paths"]]) or Kitchen("restaurant")
        address = read["address"]
        return Place(
            record=sketch.record,
            digest=sketch.digest,
            name=read["name"].strip(),
            alt_names=[
                name for each in read["names"] if (name := text_cleaning.fitting(each, 200)) and name != read["name"]
            ],
            status=read["status"],
            market_id=market.slug,
            line1=text_cleaning.fitting(address.get("freeform"), 200),
            locality=text_cleaning.fitting(address.get("locality"), 120),
            region=text_cleaning.fitting(_region(address.get("region")), 120),
            postal_code=text_cleaning.fitting(address.get("postcode"), 20),
            country=_country(read) or market.country,
            latitude=sketch.location.lat if sketch.location else None,
            longitude=sketch.location.lng if sketch.location else None,
            phone=text_cleaning.first_phone(read["phones"], country=market.country),
            website=text_cleaning.first_website(read["websites"]),
            cuisines=list(found.cuisines),
            cuisine_labels={slug: label(slug) for slug in found.cuisines},
            attributes=found.attributes,
            external_ids=_external_ids(sketch.record, read),
        )

    def _compared(self, file: pq.ParquetFile) -> Iterator[dict[str, Any] | None]:
        """The rows of one of two releases. A null confidence says that the place is not in this one."""
        prefix = OLDER if self.release == "base" else ""
        columns = {prefix + name: name for name in COMPARED}
        for batch in parquet.batches(file, {*columns, "source_dataset"}):
            for row in batch.to_pylist():
                if row[f"{prefix}confidence"] is None or row.get("source_dataset", RELEASES_OF) != RELEASES_OF:
                    yield None
                else:
                    yield _read_json({name: row.get(column) for column, name in columns.items()})


def _rows(file: pq.ParquetFile) -> Iterator[dict[str, Any] | None]:
    """Rows whose category feeds nobody are not even made into dictionaries: they are most of a release."""
    for batch in parquet.batches(file, COLUMNS):
        yield from parquet.dicts(batch, _is_eating(batch))


def _is_eating(batch: pa.RecordBatch) -> pa.Array | None:
    for name in ("taxonomy", "categories"):
        if name in batch.schema.names and pa.types.is_struct(batch.schema.field(name).type):
            # What a null struct holds is not null by itself.
            column = batch.column(name)
            if not _has_words(column.type):
                # Row by row it is told what is wrong.
                return None
            primary = pc.if_else(pc.is_valid(column), pc.struct_field(column, "primary"), None)
            if name == "taxonomy":
                # A word that we do not know may lie beneath one that we do.
                return pc.is_valid(primary)
            return parquet.among(primary, lambda word: kitchens([(word,)]) is not None)
    return None


def _has_words(categories: pa.StructType) -> bool:
    index = categories.get_field_index("primary")
    if index < 0:
        return False
    kind = categories.field(index).type
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_dictionary))


def _paths(row: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The categories, each after those that it lies beneath; the main one first. Raises RejectedError."""
    taxonomy, categories = row.get("taxonomy"), row.get("categories")
    for name, said in (("taxonomy", taxonomy), ("categories", categories)):
        if isinstance(said, dict) and not isinstance(said.get("primary"), str | None):
            raise RejectedError(f"{name}.primary: a text is expected.")
    if isinstance(taxonomy, dict) and taxonomy.get("primary"):
        hierarchy = text_cleaning.texts(taxonomy.get("hierarchy"))
        above = [each for each in (row.get("basic_category"),) if isinstance(each, str)]
        main = tuple(dict.fromkeys([*above, *hierarchy, taxonomy["primary"]]))
        # The main category stands last, whatever the hierarchy says.
        main = (*(each for each in main if each != taxonomy["primary"]), taxonomy["primary"])
        return [main, *((each,) for each in text_cleaning.texts(taxonomy.get("alternates")))]
    if isinstance(categories, dict) and isinstance(categories.get("primary"), str):
        return [(categories["primary"],), *((each,) for each in text_cleaning.texts(categories.get("alternate")))]
    return []


def _kitchen(row: Mapping[str, Any]) -> Kitchen | None:
    """What the main category feeds people with; a petrol station with a bar is none."""
    paths = _paths(row)
    return kitchens(paths[:1])


def _read_parts(row: Mapping[str, Any]) -> dict[str, Any]:
    """All that is read of a row: when this is equal, nothing is new."""
    names, brand = _object(row.get("names")), _object(row.get("brand"))
    addresses = row.get("addresses")
    return {
        "name": _text(names.get("primary")),
        "names": list(dict.fromkeys(_translations(names.get("common")))),
        "paths": _paths(row),
        "status": _status(row),
        "address": _object(addresses[0]) if isinstance(addresses, list) and addresses else {},
        "phones": text_cleaning.texts(row.get("phones")),
        "websites": text_cleaning.texts(row.get("websites")),
        "brand": _text(brand.get("wikidata")),
        "datasets": _datasets(row.get("sources")),
    }


def _translations(common: object) -> list[str]:
    """The names in other languages: a map is a list of pairs to the reader of Parquet."""
    if isinstance(common, dict):
        return [name for _, name in sorted(common.items()) if isinstance(name, str)]
    pairs: Sequence[Any] = common if isinstance(common, list) else ()
    return [pair[1] for pair in pairs if isinstance(pair, tuple) and isinstance(pair[1], str)]


def _status(row: Mapping[str, Any]) -> str:
    """A confidence of 0 says that there is no such place any more."""
    stated, confidence = row.get("operating_status"), row.get("confidence")
    status = STATUSES.get(stated, Restaurant.Status.OPEN) if isinstance(stated, str) else Restaurant.Status.OPEN
    if isinstance(confidence, int | float) and status == Restaurant.Status.OPEN:
        if confidence == 0:
            return Restaurant.Status.PERMANENTLY_CLOSED
        if confidence < LEAST_CONFIDENCE:
            return Restaurant.Status.UNVERIFIED
    return status


def _datasets(sources: object) -> list[str]:
    """Who the place is known from, and under which terms: "meta (CDLA-Permissive-2.0)"."""
    rows = [each for each in sources if isinstance(each, dict)] if isinstance(sources, list) else []
    named = [(each["dataset"], each.get("license")) for each in rows if isinstance(each.get("dataset"), str)]
    return sorted({f"{name} ({terms or LICENSES.get(name.casefold(), OWN_LICENSE)})" for name, terms in named})


def _location(row: Mapping[str, Any]) -> Location | None:
    """The point, else the middle of the box; None where a row has neither. Raises RejectedError."""
    geometry, box = row.get("geometry"), row.get("bbox")
    if isinstance(geometry, bytes):
        lng, lat = _point(geometry)
        return read_location(lat, lng)
    if isinstance(box, dict) and all(
        isinstance(box.get(side), int | float) for side in ("xmin", "xmax", "ymin", "ymax")
    ):
        return read_location((box["ymin"] + box["ymax"]) / 2, (box["xmin"] + box["xmax"]) / 2)
    return None


def _point(wkb: bytes) -> tuple[float, float]:
    """Longitude and latitude of a point in well-known binary. Raises RejectedError."""
    try:
        order = {0: ">", 1: "<"}[wkb[0]]
        (kind,) = struct.unpack_from(f"{order}I", wkb, 1)
        # The flags of the extended kind: Z, M, and a reference system in four bytes.
        if kind & 0x0FFFFFFF not in (1, 1001, 2001, 3001):
            raise RejectedError("The geometry is no point.")
        return struct.unpack_from(f"{order}2d", wkb, 9 if kind & 0x20000000 else 5)
    except (IndexError, KeyError, struct.error) as error:
        raise RejectedError("The geometry is broken.") from error


def _country(read: Mapping[str, Any]) -> str | None:
    country = _text(read["address"].get("country")).upper()
    return country if re.fullmatch("[A-Z]{2}", country) else None


def _region(region: object) -> str | None:
    """The part of "US-NY" that stands in addresses."""
    return re.sub(r"^[A-Z]{2}-", "", region) if isinstance(region, str) else None


def _external_ids(record: str, read: Mapping[str, Any]) -> dict[str, str]:
    ids = {"overture": record}
    if _QID.fullmatch(read["brand"]):
        ids["brand_wikidata"] = read["brand"]
    if datasets := text_cleaning.fitting("; ".join(read["datasets"]), 200):
        ids["overture_datasets"] = datasets
    return ids


def _read_json(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its texts of JSON read, or what is broken about them."""
    read = dict(row)
    for name, value in row.items():
        if name != "id" and isinstance(value, str):
            try:
                read[name] = json.loads(value)
            except (ValueError, RecursionError) as error:
                return {BROKEN: f"{name} is no JSON: {error}."}
    return read


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
