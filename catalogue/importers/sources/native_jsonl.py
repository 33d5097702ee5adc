"""The native format: JSON lines, one restaurant per line, with its reviews and discounts (docs/importing.md)."""

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any, BinaryIO

from catalogue.hours import Hours, InvalidHoursError
from catalogue.importers.parsing.json_reader import JsonObject
from catalogue.importers.parsing.parsed_place import (
    ExtractedRecord,
    ParsedPlace,
    ParsedReview,
    ParsedRule,
    build_place,
    read_location,
    read_osm_hours,
)
from catalogue.importers.row_errors import RowRejected, UnreadableFileError, check_storable, hash_content
from catalogue.importers.upsert import SourceReader
from catalogue.models import Market, Restaurant
from catalogue.places.phones import read_phone
from catalogue.reviews import language_detection

# Part of every digest: raise it when this module reads more columns, and the next import updates all rows.
VERSION = 3

_CUISINE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_URL = re.compile(r"https?://[^\s/?#]+[^\s]*")


def read_rows(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the non-empty lines. Raises UnreadableFileError if the first one is no JSON object."""
    is_first = True
    for line in stream:
        if not line.strip():
            continue
        if is_first and not line.lstrip().startswith(b"{"):
            raise UnreadableFileError("This is no JSON lines file: the first line is no object.")
        is_first = False
        yield line


def extract(content: Any) -> ExtractedRecord | None:
    """Extract the record of a line. Raises RowRejected."""
    try:
        line = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RowRejected(f"The line is no JSON: {error}.") from error
    if not isinstance(line, dict):
        raise RowRejected("The line is no object.")
    check_storable(line)
    form = JsonObject(line)
    record = form.text("id", max_length=120)
    location = form.child("location")
    return ExtractedRecord(
        record=record,
        digest=hash_content(VERSION, line),
        location=read_location(location.value("lat"), location.value("lng")),
        market=form.optional_text("market", max_length=40),
        content=line,
    )


def parse(extracted: ExtractedRecord, *, market: Market, on: date) -> ParsedPlace:
    """Parse a line; `on` is the date from which dated hours are read. Raises RowRejected."""
    form = JsonObject(extracted.content)
    for name in ("id", "market"):
        form.value(name)
    location = form.child("location")
    for name in ("lat", "lng"):
        location.value(name)
    location.reject_unread_fields()
    address = form.optional_child("address") or JsonObject({})
    phone = form.optional_text("phone", max_length=40)
    place = build_place(
        extracted,
        market=market,
        name=form.text("name", max_length=200),
        alt_names=form.texts("alt_names", max_length=200),
        status=form.choice("status", Restaurant.Status.values) or Restaurant.Status.OPEN,
        neighborhood=form.optional_text("neighborhood", max_length=120),
        line1=address.optional_text("line1", max_length=200),
        locality=address.optional_text("locality", max_length=120),
        region=address.optional_text("region", max_length=120),
        postal_code=address.optional_text("postal_code", max_length=20),
        country=address.matching("country", r"[A-Z]{2}", max_length=2),
        phone=_parse_phone(phone, country=market.country),
        website=form.matching("website", _URL.pattern, max_length=500),
        price_level=form.optional_integer("price_level", 1, 4),
        cuisine_labels={slug: slug.replace("-", " ").capitalize() for slug in _parse_cuisines(form)},
        hours=_parse_hours(form, market=market, on=on, point=extracted.point),
        attributes=form.flag_map("attributes"),
        external_ids=form.text_map("external_ids"),
        reviews=_parse_reviews(form),
        flow_rules=_parse_rules(form),
    )
    address.reject_unread_fields()
    form.reject_unread_fields()
    return place


def _parse_phone(text: str | None, *, country: str) -> str | None:
    number = read_phone(text, country=country) if text else None
    if text and number is None:
        raise RowRejected(f"phone: {text!r} is not a valid number.")
    return number


def _parse_cuisines(form: JsonObject) -> list[str]:
    slugs = form.texts("cuisines", max_length=60)
    for slug in slugs:
        if not _CUISINE.fullmatch(slug):
            raise RowRejected(f"cuisines: {slug!r} is not a slug such as `coffee-shop`.")
    return slugs


def _parse_hours(form: JsonObject, *, market: Market, on: date, point: tuple[float, float]) -> dict[str, Any] | None:
    """Parse an opening_hours string of OpenStreetMap, or `periods` and `special_days` as in the API.

    An empty list means closed; neither of them means unknown.
    """
    hours_form = form.optional_child("hours")
    if hours_form is None:
        return None
    if hours_form.has("osm"):
        text = hours_form.text("osm", max_length=2000)
        hours_form.reject_unread_fields()
        hours = read_osm_hours(text, market=market, on=on, point=point)
        if not hours.known:
            raise RowRejected(f"hours.osm: {text!r} cannot be parsed with certainty.")
        return hours.to_json()
    periods, special_days = hours_form.value("periods"), hours_form.value("special_days")
    hours_form.reject_unread_fields()
    if periods is None and special_days is None:
        return None
    try:
        return Hours.from_json(
            {"timezone": market.timezone, "periods": periods, "special_days": special_days, "known": True}
        ).to_json()
    except InvalidHoursError as error:
        raise RowRejected(f"hours.{error}") from error


def _parse_reviews(form: JsonObject) -> tuple[ParsedReview, ...] | None:
    forms = form.children("reviews")
    if forms is None:
        return None
    reviews = tuple(_parse_review(each) for each in forms)
    if len({review.record for review in reviews}) < len(reviews):
        raise RowRejected("reviews: an id is given twice.")
    return reviews


def _parse_review(form: JsonObject) -> ParsedReview:
    reply = form.optional_child("owner_reply")
    text = form.optional_text("text", max_length=20_000, multiline=True) or ""
    review = ParsedReview(
        record=form.text("id", max_length=120),
        stars=form.integer("stars", 1, 5),
        author=form.text("author", max_length=120),
        created_at=form.timestamp("created_at"),
        text=text,
        lang=form.matching("lang", "[a-z]{2}", max_length=2) or language_detection.detect_language(text),
        visited_on=form.optional_date("visited_on"),
        helpful_count=form.optional_integer("helpful_count", 0, 1_000_000_000) or 0,
        owner_reply=reply.text("text", max_length=20_000, multiline=True) if reply else None,
        owner_replied_at=reply.timestamp("created_at") if reply else None,
    )
    if reply:
        reply.reject_unread_fields()
    form.reject_unread_fields()
    return review


def _parse_rules(form: JsonObject) -> tuple[ParsedRule, ...] | None:
    forms = form.children("flow_rules")
    return None if forms is None else tuple(_parse_rule(each) for each in forms)


def _parse_rule(form: JsonObject) -> ParsedRule:
    rule = ParsedRule(
        weekdays=form.integers("weekdays", 0, 6),
        time=form.time_of_day("time"),
        percent=form.integer("percent", 1, 90),
        active=form.optional_flag("active", default=True),
    )
    form.reject_unread_fields()
    return rule


# One owner's lines are not the whole market.
READER = SourceReader("native", read_rows, extract, parse)
