"""The native format: JSON lines, one restaurant per line, with its reviews and discounts (docs/importing.md)."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from typing import Any, BinaryIO, TypeVar

from accounts.webhooks.ssrf_guard import MAX_URL_LENGTH, InvalidWebhookUrl, parse_url
from catalogue.hours import Hours, InvalidHoursError
from catalogue.importers.parsing.json_reader import JsonObject
from catalogue.importers.parsing.parsed_place import (
    ExtractedRecord,
    ParsedPhoto,
    ParsedPlace,
    ParsedReview,
    ParsedRule,
    build_place,
    read_location,
    read_osm_hours,
)
from catalogue.importers.parsing.text_cleaning import parse_country, parse_website
from catalogue.importers.row_errors import Row, RowRejected, UnreadableFileError, clean_content, hash_content
from catalogue.importers.upsert import SourceReader
from catalogue.models import Market, Photo, Restaurant
from catalogue.places.phones import read_phone
from catalogue.places.slugs import slugify
from catalogue.reviews import language_detection
from catalogue.search.geocoding.distance import Location

# Part of every digest: raise it when this module reads more columns, and the next import updates all rows.
VERSION = 6

MAX_PHOTOS = 50

# Fields of our own exports that are computed from others, or that only the owner of a restaurant writes.
DERIVED_FIELDS = frozenset(
    (
        "ai_insight", "ai_insight_detail", "ai_insight_reason", "attribution", "context", "cuisine", "description",
        "flow_offer", "history", "menu_url",
        "phone_verified", "phone_verified_at", "slug", "sources", "updated_at", "verified_at", "version",
    )
)  # fmt: skip
DERIVED_ADDRESS_FIELDS = frozenset(["formatted"])
DERIVED_REVIEW_FIELDS = frozenset(["rating", "source"])
DERIVED_PHOTO_FIELDS = frozenset(
    ("id", "sizes", "width", "height", "restaurant", "review_id", "source", "attribution", "created_at")
)
DERIVED_HOURS_FIELDS = frozenset(["timezone", "state", "open_now", "next_change", "display"])

T = TypeVar("T")


def read_rows(stream: BinaryIO) -> Iterator[Row]:
    """Yield the non-empty lines with their numbers. Raises UnreadableFileError if the first one is no JSON object."""
    is_first = True
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        if is_first and not line.lstrip().startswith(b"{"):
            raise UnreadableFileError("This is no JSON lines file: the first line is no object.")
        is_first = False
        yield Row(number, line)


def extract(content: Any) -> ExtractedRecord:
    """Extract the record of a line. Raises RowRejected with all reasons."""
    try:
        line = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RowRejected(f"The line is no JSON: {error}.") from error
    if not isinstance(line, dict):
        raise RowRejected("The line is no object.")
    line = clean_content(line)
    form = JsonObject(line)
    record = form.attempt(lambda: form.identifier("id", max_length=120), None)
    form.attempt(lambda: form.text("name", max_length=200), None)
    market = form.attempt(lambda: form.optional_text("market", max_length=40), None)
    location = form.attempt(lambda: _parse_location(form), None)
    if location is None and not form.has("location") and market is None:
        form.problems.append("location: this is required, unless the line names its market.")
    if record is None or form.problems:
        raise RowRejected(*form.problems)
    country = form.attempt(lambda: form.child("address").value("country"), None) if location is None else None
    return ExtractedRecord(
        record=record,
        digest=hash_content(VERSION, line),
        location=location,
        market=market,
        country=parse_country(country),
        content=line,
    )


def parse(extracted: ExtractedRecord, *, market: Market, on: date) -> ParsedPlace:
    """Parse a line without its invalid values; `on` is today, from which dated hours are read."""
    form = JsonObject(extracted.content)
    for name in ("id", "market"):
        form.value(name)
    if (location := form.attempt(lambda: form.optional_child("location"), None)) is not None:
        for name in ("lat", "lng"):
            location.value(name)
        location.report_unread_fields()
    address = form.attempt(lambda: form.optional_child("address"), None) or JsonObject({}, problems=form.problems)

    def optional(read: Callable[[], T]) -> T | None:
        return form.attempt(read, None)

    cuisines = _parse_cuisines(form)
    place = build_place(
        extracted,
        market=market,
        name=form.text("name", max_length=200),
        alt_names=form.attempt(lambda: form.texts("alt_names", max_length=200), []),
        status=_parse_status(form),
        neighborhood=optional(lambda: form.optional_text("neighborhood", max_length=120)),
        line1=optional(lambda: address.optional_text("line1", max_length=200)),
        locality=optional(lambda: address.optional_text("locality", max_length=120)),
        region=optional(lambda: address.optional_text("region", max_length=120)),
        postal_code=optional(lambda: address.optional_text("postal_code", max_length=20)),
        country=optional(lambda: _parse_country(address)),
        phone=optional(lambda: _parse_phone(form, country=market.country)),
        website=optional(lambda: _parse_website(form)),
        rating=optional(lambda: form.tenths("rating", 1, 5) if form.has("rating") else None),
        review_count=optional(lambda: form.optional_integer("review_count", 0, 1_000_000_000)),
        price_level=optional(lambda: form.optional_integer("price_level", 1, 4)),
        cuisine_labels=cuisines,
        hours=optional(lambda: _parse_hours(form, market=market, on=on, extracted=extracted)),
        attributes=form.attempt(lambda: form.flag_map("attributes"), {}),
        external_ids=form.attempt(lambda: form.text_map("external_ids"), {}),
        reviews=optional(lambda: _parse_reviews(form, on=on)),
        flow_rules=optional(lambda: _parse_rules(form)),
        photos=optional(lambda: _parse_photos(form)),
    )
    address.report_unread_fields(ignored=DERIVED_ADDRESS_FIELDS)
    form.report_unread_fields(ignored=DERIVED_FIELDS)
    return replace(place, left_out=tuple(form.problems))


def _parse_location(form: JsonObject) -> Location | None:
    location = form.optional_child("location")
    return read_location(location.value("lat"), location.value("lng")) if location else None


def _parse_status(form: JsonObject) -> str:
    """An unknown status may mean a closed restaurant, so it is not open."""
    status = form.attempt(lambda: form.choice("status", Restaurant.Status.values), Restaurant.Status.UNVERIFIED)
    return status or Restaurant.Status.OPEN


def _parse_country(address: JsonObject) -> str | None:
    text = address.optional_text("country", max_length=80)
    country = parse_country(text)
    if text and country is None:
        raise RowRejected(f"address.country: {text!r} is no code of two letters.")
    return country


def _parse_phone(form: JsonObject, *, country: str) -> str | None:
    text = form.optional_text("phone", max_length=40)
    number = read_phone(text, country=country) if text else None
    if text and number is None:
        raise RowRejected(f"phone: {text!r} is not a valid number.")
    return number


def _parse_website(form: JsonObject) -> str | None:
    text = form.optional_text("website", max_length=500)
    website = parse_website(text)
    if text and website is None:
        raise RowRejected(f"website: {text!r} is not an address.")
    return website


def _parse_cuisines(form: JsonObject) -> dict[str, str]:
    """Return the label of each cuisine; another text than a slug becomes one: "Sea food" is sea-food."""
    labels = {}
    for text in form.attempt(lambda: form.texts("cuisines", max_length=60), []):
        if any(character.isalnum() for character in text):
            labels[slugify(text)[:60].rstrip("-")] = text.replace("-", " ").capitalize()
        else:
            form.problems.append(f"cuisines: {text!r} is no name.")
    return labels


def _parse_hours(form: JsonObject, *, market: Market, on: date, extracted: ExtractedRecord) -> dict[str, Any] | None:
    """Parse an opening_hours string of OpenStreetMap, or `periods` and `special_days` as in the API.

    An empty list means closed; neither of them means unknown. Where both are stated, as in a record, the text counts
    if it has the same periods: it knows more dates. An unreadable text alone is stored, and the hours are unknown.
    """
    hours_form = form.optional_child("hours")
    if hours_form is None:
        return None
    text = hours_form.optional_text("osm", max_length=2000)
    periods, special_days = hours_form.value("periods"), hours_form.value("special_days")
    hours_form.report_unread_fields(ignored=DERIVED_HOURS_FIELDS)
    stated = None
    if periods is not None or special_days is not None:
        values = {"timezone": market.timezone, "periods": periods, "special_days": special_days, "known": True}
        try:
            stated = Hours.from_json(values)
        except InvalidHoursError as error:
            form.problems.append(f"hours.{error}")
    if text is None:
        return stated.to_json() if stated else None
    point = extracted.point if extracted.location else (market.latitude, market.longitude)
    read = read_osm_hours(text, market=market, on=on, point=point)
    if stated and not (read.known and read.periods == stated.periods):
        return stated.to_json()
    if not read.known:
        form.problems.append(f"hours.osm: {text!r} cannot be parsed with certainty.")
    return read.to_json()


def _parse_reviews(form: JsonObject, *, on: date) -> tuple[ParsedReview, ...] | None:
    """Return the valid reviews; None if there is no list, or none of it is valid: then the stored ones stay."""
    forms = form.children("reviews")
    if forms is None:
        return None
    reviews: dict[str, ParsedReview] = {}
    for each in forms:
        review = parse_review(each, on=on)
        if review is not None and review.record in reviews:
            form.problems.append(f"{each.path}.id: {review.record!r} is given twice.")
        elif review is not None:
            reviews[review.record] = review
    return tuple(reviews.values()) if reviews or not form.content["reviews"] else None


def parse_review(form: JsonObject, *, on: date) -> ParsedReview | None:
    """Return a review without its invalid values; None if a required one is missing or invalid."""
    record = form.attempt(lambda: form.identifier("id", max_length=120), None)
    stars = form.attempt(lambda: form.tenths("stars", 1, 5), None)
    author = form.attempt(lambda: form.text("author", max_length=120), None)
    created_at = form.attempt(lambda: _parse_past(form, "created_at", on=on), None)
    text = form.attempt(lambda: form.optional_text("text", max_length=20_000, multiline=True) or "", None)
    lang = form.attempt(lambda: _parse_lang(form), None)
    visited_on = form.attempt(lambda: _parse_visit(form, on=on), None)
    helpful_count = form.attempt(lambda: form.optional_integer("helpful_count", 0, 1_000_000_000), None)
    reply = form.attempt(lambda: _parse_reply(form, on=on), None)
    form.report_unread_fields(ignored=DERIVED_REVIEW_FIELDS)
    if record is None or stars is None or author is None or created_at is None or text is None:
        return None
    whole = int(stars.quantize(Decimal(1), ROUND_HALF_UP))
    return ParsedReview(
        record=record,
        stars=whole,
        rating=None if stars == whole else stars,
        author=author,
        created_at=created_at,
        text=text,
        lang=lang or language_detection.detect_language(text),
        visited_on=visited_on,
        helpful_count=helpful_count or 0,
        owner_reply=reply[0] if reply else None,
        owner_replied_at=reply[1] if reply else None,
    )


def _parse_past(form: JsonObject, name: str, *, on: date) -> datetime:
    """Parse a timestamp. Raises RowRejected if it is later than the day after `on`, which is a day of the market."""
    at = form.timestamp(name)
    if at.date() > on + timedelta(days=1):
        raise RowRejected(f"{form.path}.{name}: '{at:%Y-%m-%d}' is in the future.")
    return at


def _parse_visit(form: JsonObject, *, on: date) -> date | None:
    day = form.optional_date("visited_on")
    if day and day > on + timedelta(days=1):
        raise RowRejected(f"{form.path}.visited_on: '{day}' is in the future.")
    return day


def _parse_lang(form: JsonObject) -> str | None:
    """Return a code of ISO 639-1: "en" for "en-GB"."""
    text = form.optional_text("lang", max_length=35)
    code = text.replace("_", "-").split("-")[0].lower() if text else None
    if code and not (len(code) == 2 and code.isascii() and code.isalpha()):
        raise RowRejected(f"{form.path}.lang: {text!r} is no code of ISO 639-1.")
    return code


def _parse_reply(form: JsonObject, *, on: date) -> tuple[str, datetime] | None:
    reply = form.optional_child("owner_reply")
    if reply is None:
        return None
    text = reply.text("text", max_length=20_000, multiline=True)
    at = _parse_past(reply, "created_at", on=on)
    reply.report_unread_fields()
    return text, at


def _parse_rules(form: JsonObject) -> tuple[ParsedRule, ...] | None:
    """Return the valid discounts; None if there is no list."""
    forms = form.children("flow_rules")
    if forms is None:
        return None
    rules = [form.attempt(partial(_parse_rule, each), None) for each in forms]
    return tuple(rule for rule in rules if rule is not None)


def _parse_rule(form: JsonObject) -> ParsedRule:
    rule = ParsedRule(
        weekdays=form.integers("weekdays", 0, 6),
        time=form.time_of_day("time"),
        percent=form.integer("percent", 1, 90),
        active=form.optional_flag("active", default=True),
    )
    form.report_unread_fields()
    return rule


def _parse_photos(form: JsonObject) -> tuple[ParsedPhoto, ...] | None:
    """Return the valid photos; None if there is no list, or none of it is valid: then the stored ones stay."""
    forms = form.children("photos")
    if forms is None:
        return None
    if len(forms) > MAX_PHOTOS:
        form.problems.append(f"photos: only the first {MAX_PHOTOS} of {len(forms)} are imported.")
    photos: dict[str, ParsedPhoto] = {}
    for each in forms[:MAX_PHOTOS]:
        photo = form.attempt(partial(parse_photo, each, place=form.text("name", max_length=200)), None)
        if photo is not None and photo.url in photos:
            form.problems.append(f"{each.path}.url: {photo.url!r} is given twice.")
        elif photo is not None:
            photos[photo.url] = photo
    return tuple(photos.values()) if photos or not form.content["photos"] else None


def parse_photo(form: JsonObject, *, place: str) -> ParsedPhoto:
    """Return a photo without its invalid values. Raises RowRejected without a valid URL."""
    url = form.text("url", max_length=MAX_URL_LENGTH)
    try:
        parse_url(url)
    except InvalidWebhookUrl as error:
        raise RowRejected(f"{form.path}.url: {error.message}".lstrip(".")) from error
    caption = form.attempt(lambda: form.optional_text("caption", max_length=300), None)
    photo = ParsedPhoto(
        url=url,
        kind=form.attempt(lambda: form.choice("kind", Photo.Kind.values), None) or Photo.Kind.OTHER,
        caption=caption,
        alt=form.attempt(lambda: form.optional_text("alt", max_length=300), None) or caption or place,
        author=form.attempt(lambda: form.optional_text("author", max_length=120), None),
        license=form.attempt(lambda: form.optional_text("license", max_length=60), None),
    )
    form.report_unread_fields(ignored=DERIVED_PHOTO_FIELDS)
    return photo


# One owner's lines are not the whole market.
READER = SourceReader("native", read_rows, extract, parse)
