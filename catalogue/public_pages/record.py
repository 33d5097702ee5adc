"""What the page of a restaurant shows: the free fields of its record, its week, its offers and what is near."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import orjson
from django.utils.translation import gettext as _

from catalogue import field_groups, places, search
from catalogue.attribution import attribution_lines
from catalogue.hours import date_range
from catalogue.models import Restaurant
from catalogue.offers.on_sale import Status
from catalogue.offers.search import SlotDetails, list_restaurant_slots
from catalogue.public_pages.labels import choose_drawing
from catalogue.public_pages.map import Map, Pin, draw_map
from catalogue.public_pages.venues import NONE, GuestPages, find_guest_pages
from catalogue.search.geocoding.distance import Location
from catalogue.search.text.vocabulary import Vocabulary
from catalogue.serializers.restaurants import render_record
from framework.languages import format_clock, format_day_of_month, format_weekday
from framework.public_ids import decode

MAX_NEAREST = 6
NEAREST_RADIUS_M = 3_000
MAX_OFFERS = 6
ONE_DAY = timedelta(days=1)
DAYS = 7
IN_BUSINESS = (Restaurant.Status.OPEN, Restaurant.Status.UNVERIFIED)


@dataclass(frozen=True, slots=True)
class Day:
    """A day of the week that begins today: its opening times, and the name of a holiday or that it is special."""

    weekday: str
    day: str
    is_today: bool
    times: list[str]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestaurantPage:
    """`core` is the free answer of GET /v1/restaurants/{slug}; `week` is None where the hours are not known."""

    core: Mapping[str, Any]
    city: str
    today: date
    week: list[Day] | None
    offers: list[SlotDetails]
    nearest: list[dict[str, Any]]
    map: Map | None
    pages: GuestPages
    attribution: list[dict[str, Any]]

    @property
    def is_in_business(self) -> bool:
        return self.core["status"] in IN_BUSINESS


def load_page(slug: str, *, url_of: Callable[[str], str], vocabulary: Vocabulary, now: datetime) -> RestaurantPage:
    """Load the page of a restaurant; `url_of` returns the path of another one by its slug.

    Eight queries, two more with an offer. Raises what places.find_place raises.
    """
    core = orjson.loads(render_record(field_groups.read_record(slug, groups=(field_groups.CORE,), now=now)))
    market = vocabulary.markets.get(core["market"])
    today = now.astimezone(market.zone if market else UTC).date()
    offers: list[SlotDetails] = []
    if core["flow_offer"]:
        slots = list_restaurant_slots(places.find_restaurant(slug), limit=MAX_OFFERS * 2, now=now).rows
        offers = [slot for slot in slots if slot.status is Status.AVAILABLE][:MAX_OFFERS]
    nearest: list[dict[str, Any]] = []
    drawn = None
    lines = {line["source"]: line for line in core["attribution"]}
    if core["location"]:
        here = Location(core["location"]["lat"], core["location"]["lng"])
        query = search.Query(ll=(here.lat, here.lng), radius=NEAREST_RADIUS_M, limit=MAX_NEAREST + 1)
        found = search.search_restaurants(query, now=now)
        nearest = [hit.values for hit in found.hits if hit.slug != slug][:MAX_NEAREST]
        drawn = draw_map(
            number_pins(nearest, href=lambda _number, hit: url_of(hit["slug"])), here=(core["name"], here)
        )
        for line in (*found.attribution, *attribution_lines(drawn.sources if drawn else ())):
            lines.setdefault(line["source"], line)
    return RestaurantPage(
        core=core,
        city=market.name if market else "",
        today=today,
        week=list_week(slug, today=today, now=now),
        offers=offers,
        nearest=nearest,
        map=drawn,
        pages=find_guest_pages([slug]).get(slug, NONE) if core["status"] in IN_BUSINESS else NONE,
        attribution=list(lines.values()),
    )


def number_pins(hits: Sequence[Mapping[str, Any]], *, href: Callable[[int, Mapping[str, Any]], str]) -> list[Pin]:
    """Return a pin for each hit with a location, numbered by its place in the list."""
    return [
        Pin(
            number,
            hit["name"],
            Location(hit["location"]["lat"], hit["location"]["lng"]),
            href(number, hit),
            choose_drawing(hit["cuisines"])["tone"],
        )
        for number, hit in enumerate(hits, 1)
        if hit["location"]
    ]


def list_week(slug: str, *, today: date, now: datetime) -> list[Day] | None:
    """Return the hours of the next seven days with holidays and closures; None if not known. Three queries."""
    # With the day before and after, so that no interval is cut at midnight.
    found = date_range.list_hours(slug, first=today - ONE_DAY, last=today + DAYS * ONE_DAY, now=now)
    if found.spans is None:
        return None
    names = {day["date"]: day["name"] for day in found.holidays}
    special = {day["date"] for day in found.special_days}
    week = []
    for day in (today + number * ONE_DAY for number in range(DAYS)):
        spans = (describe_span(day, span["opens_at"], span["closes_at"]) for span in found.spans)
        note = names.get(day) or (_("Special hours") if day in special else "")
        week.append(Day(format_weekday(day), format_day_of_month(day), day == today, list(filter(None, spans)), note))
    return week


def describe_span(day: date, opens: datetime, closes: datetime) -> str:
    """Return the times of an open span on a day, to which it belongs if it opens or lasts all day then; else ""."""
    if closes.date() > day and (opens.date() < day or (opens.date() == day and opens.time() == time.min)):
        return _("Open 24 hours")
    if opens.date() != day:
        return ""
    if closes - opens < ONE_DAY:
        return f"{format_clock(opens)} - {format_clock(closes)}"
    return _("from %(time)s") % {"time": format_clock(opens)}


def find_slug(text: str) -> str | None:
    """Return the slug of a restaurant by its id (rst_...). One query for an id."""
    pk = decode("rst", text)
    return Restaurant.objects.filter(pk=pk).values_list("slug", flat=True).first() if pk else None
