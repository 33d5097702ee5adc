"""Our own format: JSON lines, one restaurant a line, with its reviews and discounts (docs/importing.md)."""

import json
import re
from collections.abc import Iterator
from datetime import date
from typing import Any, BinaryIO

from catalogue.hours import HORIZON_DAYS, Hours, InvalidHoursError, holidays, read_osm
from catalogue.importers.parsing.json_reader import Form
from catalogue.importers.parsing.parsed_place import Place, ReviewLine, RuleLine, Sketch, read_location
from catalogue.importers.row_errors import RejectedError, UnreadableFileError, check_storable, digest_of
from catalogue.models import Market, Restaurant
from catalogue.places.phones import read_phone
from catalogue.reviews import language_detection

SOURCE = "native"
# One owner's lines are not all there are: what is absent from them is not gone.
IS_COMPLETE = False
IS_WORLDWIDE = False
IS_GROUPED = False

# Part of every digest: raise it when this module reads more than before, and the next import reads all rows anew.
VERSION = 3

_CUISINE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_URL = re.compile(r"https?://[^\s/?#]+[^\s]*")


def rows(stream: BinaryIO) -> Iterator[bytes]:
    """The lines that are not empty. Raises UnreadableFileError when the first one is no JSON object."""
    is_first = True
    for line in stream:
        if not line.strip():
            continue
        if is_first and not line.lstrip().startswith(b"{"):
            raise UnreadableFileError("This is no JSON lines file: the first line is no object.")
        is_first = False
        yield line


def sketch(content: Any) -> Sketch | None:
    """Which record a line is. Raises RejectedError."""
    try:
        line = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise RejectedError(f"The line is no JSON: {error}.") from error
    if not isinstance(line, dict):
        raise RejectedError("The line is no object.")
    check_storable(line)
    form = Form(line)
    record = form.text("id", longest=120)
    where = form.form("location")
    return Sketch(
        record=record,
        digest=digest_of(VERSION, line),
        location=read_location(where.value("lat"), where.value("lng")),
        market=form.optional_text("market", longest=40),
        content=line,
    )


def read(sketch: Sketch, *, market: Market, on: date) -> Place:
    """All that the line states; `on` is the day from which dated hours are read. Raises RejectedError."""
    form = Form(sketch.content)
    for name in ("id", "market"):
        form.value(name)
    where = form.form("location")
    for name in ("lat", "lng"):
        where.value(name)
    where.finish()
    address = form.optional_form("address") or Form({})
    phone = form.optional_text("phone", longest=40)
    place = Place(
        record=sketch.record,
        digest=sketch.digest,
        name=form.text("name", longest=200),
        alt_names=form.texts("alt_names", longest=200),
        status=form.choice("status", Restaurant.Status.values) or Restaurant.Status.OPEN,
        market_id=market.slug,
        neighborhood=form.optional_text("neighborhood", longest=120),
        line1=address.optional_text("line1", longest=200),
        locality=address.optional_text("locality", longest=120),
        region=address.optional_text("region", longest=120),
        postal_code=address.optional_text("postal_code", longest=20),
        country=address.matching("country", r"[A-Z]{2}", longest=2) or market.country,
        latitude=sketch.point[0],
        longitude=sketch.point[1],
        phone=_phone(phone, country=market.country),
        website=form.matching("website", _URL.pattern, longest=500),
        price_level=form.optional_integer("price_level", 1, 4),
        cuisines=(cuisines := _cuisines(form)),
        cuisine_labels={slug: slug.replace("-", " ").capitalize() for slug in cuisines},
        hours=_hours(form, market=market, on=on, point=sketch.point),
        attributes=form.flags("attributes"),
        external_ids=form.words("external_ids"),
        reviews=_reviews(form),
        flow_rules=_rules(form),
    )
    address.finish()
    form.finish()
    return place


def _phone(text: str | None, *, country: str) -> str | None:
    number = read_phone(text, country=country) if text else None
    if text and number is None:
        raise RejectedError(f"phone: {text!r} is not a valid number.")
    return number


def _cuisines(form: Form) -> list[str]:
    slugs = form.texts("cuisines", longest=60)
    for slug in slugs:
        if not _CUISINE.fullmatch(slug):
            raise RejectedError(f"cuisines: {slug!r} is not a slug such as `coffee-shop`.")
    return slugs


def _hours(form: Form, *, market: Market, on: date, point: tuple[float, float]) -> dict[str, Any] | None:
    """Either an opening_hours string of OpenStreetMap, or `periods` and `special_days` as a record shows them.

    An empty list says closed; neither of them says nothing.
    """
    stated = form.optional_form("hours")
    if stated is None:
        return None
    if stated.has("osm"):
        text = stated.text("osm", longest=2000)
        stated.finish()
        kept = holidays.holidays_for_hours(text, market=market.slug, first=on, days=HORIZON_DAYS)
        hours = read_osm(text, timezone=market.timezone, on=on, point=point, holidays=kept)
        if not hours.known:
            raise RejectedError(f"hours.osm: {text!r} cannot be read for certain.")
        return hours.to_json()
    periods, special_days = stated.value("periods"), stated.value("special_days")
    stated.finish()
    if periods is None and special_days is None:
        return None
    try:
        return Hours.from_json(
            {"timezone": market.timezone, "periods": periods, "special_days": special_days, "known": True}
        ).to_json()
    except InvalidHoursError as error:
        raise RejectedError(f"hours.{error}") from error


def _reviews(form: Form) -> tuple[ReviewLine, ...] | None:
    forms = form.forms("reviews")
    if forms is None:
        return None
    reviews = tuple(_review(each) for each in forms)
    if len({review.record for review in reviews}) < len(reviews):
        raise RejectedError("reviews: an id is given twice.")
    return reviews


def _review(form: Form) -> ReviewLine:
    reply = form.optional_form("owner_reply")
    text = form.optional_text("text", longest=20_000, lines=True) or ""
    review = ReviewLine(
        record=form.text("id", longest=120),
        stars=form.integer("stars", 1, 5),
        author=form.text("author", longest=120),
        created_at=form.moment("created_at"),
        text=text,
        lang=form.matching("lang", "[a-z]{2}", longest=2) or language_detection.detect_language(text),
        visited_on=form.optional_day("visited_on"),
        helpful_count=form.optional_integer("helpful_count", 0, 1_000_000_000) or 0,
        owner_reply=reply.text("text", longest=20_000, lines=True) if reply else None,
        owner_replied_at=reply.moment("created_at") if reply else None,
    )
    if reply:
        reply.finish()
    form.finish()
    return review


def _rules(form: Form) -> tuple[RuleLine, ...] | None:
    forms = form.forms("flow_rules")
    return None if forms is None else tuple(_rule(each) for each in forms)


def _rule(form: Form) -> RuleLine:
    rule = RuleLine(
        weekdays=form.integers("weekdays", 0, 6),
        time=form.clock("time"),
        percent=form.integer("percent", 1, 90),
        active=form.optional_flag("active", default=True),
    )
    form.finish()
    return rule
