"""New York's restaurant inspections as CSV: a row per violation, grouped by the restaurant's `camis`."""

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from string import capwords
from typing import Any, BinaryIO

from catalogue.importers.parsing import csv_rows, text_cleaning
from catalogue.importers.parsing.category_mapping import format_label
from catalogue.importers.parsing.parsed_place import ExtractedRecord, ParsedPlace, build_place, read_location
from catalogue.importers.row_errors import RowRejected, clean_content, hash_content
from catalogue.importers.upsert import SourceReader
from catalogue.models import Market, Restaurant
from catalogue.places.slugs import slugify
from catalogue.search.geocoding.distance import Location
from framework.data_files import read_toml

# Part of every digest: raise it when this module reads more columns, and the next import updates all rows.
VERSION = 2

MARKET = "new-york"
TEXT_COLUMNS = ("dba", "boro", "building", "street", "zipcode", "phone", "cuisine_description")
INSPECTION_COLUMNS = ("inspection_date", "action", "grade")
COLUMNS = ("camis", *TEXT_COLUMNS, *INSPECTION_COLUMNS)
# The date of restaurants that were not inspected yet; they may not have opened.
NOT_INSPECTED = "1900-01-01"
GRADES = frozenset("ABC")

# Labels that are no cuisine, or have another slug here.
CUISINES: dict[str, list[str]] = read_toml(Path(__file__).parent / "nyc_cuisines.toml")


def read_rows(stream: BinaryIO) -> Iterator[dict[Any, Any] | csv.Error]:
    """Yield each row by column, or the error of a malformed one. Raises UnreadableFileError."""
    return csv_rows.read_rows(stream, columns=COLUMNS, kind="inspections of New York")


def extract(content: Any) -> ExtractedRecord:
    """Extract the restaurant of a row. Raises RowRejected."""
    csv_rows.check_row(content)
    record = content["camis"].strip()
    if not re.fullmatch("[0-9]{1,12}", record, re.ASCII):
        raise RowRejected(f"camis: {record!r:.40} is no number.")
    parse = {name: content[name].strip() for name in (*TEXT_COLUMNS, *INSPECTION_COLUMNS)}
    parse = clean_content(parse)
    text_cleaning.check_name(parse["dba"])
    location = _parse_location(content.get("latitude"), content.get("longitude"))
    place = (location.lat, location.lng) if location else None
    return ExtractedRecord(
        record=record,
        digest=hash_content(VERSION, parse, place),
        location=location,
        market=MARKET,
        content=parse,
    )


def parse(extracted: ExtractedRecord, *, market: Market, on: date) -> ParsedPlace:  # it has no dated content
    """Parse the rows of one restaurant; `content` is their list."""
    parts: Sequence[Mapping[str, str]] = sorted(extracted.content, key=lambda part: part["inspection_date"])
    latest = parts[-1]
    grade = next((part["grade"] for part in reversed(parts) if part["grade"] in GRADES), None)
    street = f"{latest['building']} {_fix_case(latest['street'])}".strip()
    return build_place(
        extracted,
        market=market,
        name=_fix_case(latest["dba"]),
        status=_parse_status(parts),
        line1=street if latest["street"] else None,
        locality=latest["boro"] if latest["boro"] != "0" else None,
        region="NY",
        postal_code=latest["zipcode"],
        phone=text_cleaning.first_phone([latest["phone"]], country=market.country),
        cuisine_labels={slug: format_label(slug) for slug in _map_cuisines(latest["cuisine_description"])},
        attributes={"inspection_grade": grade} if grade else {},
        external_ids={"camis": extracted.record},
    )


def _parse_location(latitude: str | None, longitude: str | None) -> Location | None:
    """Parse coordinates; the city writes 0, 0 for unknown ones. Raises RowRejected."""
    try:
        lat, lng = float(latitude or 0), float(longitude or 0)
    except ValueError:
        raise RowRejected("The coordinates are not two numbers.") from None
    return read_location(lat, lng) if lat or lng else None


def _parse_status(parts: Sequence[Mapping[str, str]]) -> str:
    """Closed by the inspectors until they re-open it; unverified before the first inspection."""
    day = parts[-1]["inspection_date"]
    if day.startswith(NOT_INSPECTED) or not day:
        return Restaurant.Status.UNVERIFIED
    actions = [part["action"].casefold() for part in parts if part["inspection_date"] == day]
    is_closed = any("closed by dohmh" in action for action in actions)
    is_open = any("re-opened" in action for action in actions)
    return Restaurant.Status.TEMPORARILY_CLOSED if is_closed and not is_open else Restaurant.Status.OPEN


def _map_cuisines(city_label: str) -> list[str]:
    """Map a label: "Tex-Mex" is tex-mex; "Soups/Salads" are two."""
    if city_label in CUISINES:
        return CUISINES[city_label]
    return list(dict.fromkeys(slugify(part)[:60].rstrip("-") for part in city_label.split("/") if part.strip()))


def _fix_case(text: str) -> str:
    """Capitalise names that are all upper case."""
    return capwords(text) if text.isupper() else " ".join(text.split())


# All rows of one restaurant are parsed together.
READER = SourceReader("dohmh", read_rows, extract, parse, is_complete=True, is_grouped=True)
