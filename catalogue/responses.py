"""Response bodies of the data API, and the products in them. REST and MCP both call these functions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import orjson

from catalogue import attribution, field_groups, history, places, reference_data, search
from catalogue.field_groups import insights
from catalogue.field_groups.context import KINDS, describe_neighborhood, list_landmarks
from catalogue.insights import OnDemandResult, write_or_queue
from catalogue.matching import match_endpoint
from catalogue.models import Attribute, Market, Restaurant
from catalogue.offers import search as offers_search
from catalogue.photos import list_photos
from catalogue.reviews.listing import ReviewQuery, list_reviews_by_slug
from catalogue.search.geocoding.landmarks import search_landmarks
from catalogue.search.text import autocomplete
from catalogue.serializers import lookups
from catalogue.serializers.history import HistoryAnswer
from catalogue.serializers.offers import FlowOfferAnswer, FlowSlotAnswer
from catalogue.serializers.paid_groups import InsightAnswer
from catalogue.serializers.restaurants import render_etag_content, render_record
from catalogue.tasks import enqueue_insights
from framework.api.pagination.cursor import AttributedListing, Listing, PageInfo
from framework.api.renderers import JSONRenderer
from framework.db import read_replica

# Dictionaries are not paginated up to this size.
MAX_DICTIONARY_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Content:
    """A response body in JSON, and the products in it that must be paid for.

    `etag_of` returns the content for the ETag if the body contains members that change by themselves (a cursor, a
    moment), else None. It is called only where an ETag is sent, which MCP does not do.
    """

    body: bytes
    sold: tuple[str, ...] = ()
    etag_of: Callable[[], bytes | None] = lambda: None


def never() -> bool:
    return False


def search_results(params: dict[str, Any], *, now: datetime) -> Content:
    """Return a page of a search. Raises what search.search_restaurants raises."""
    body, content = read_replica.read_from_replica(
        lambda: search.search_restaurants(search.Query(**params), now=now).render()
    )
    return Content(body, etag_of=lambda: content)


def restaurant(slug: str, params: dict[str, Any], *, now: datetime, is_buyer: Callable[[], bool] = never) -> Content:
    """Return a restaurant with the requested field groups. `is_buyer` says whether the caller could buy an insight."""
    read = partial(field_groups.read_record, slug, groups=params["fields"], now=now, at=params.get("at"))
    # Sold fields are read from the primary, as prices are, so that the content matches the quote.
    is_free = {*params["fields"]} == {field_groups.CORE} and not params.get("at")
    record = read_replica.read_from_replica(read) if is_free else read()
    if (
        insights.needs_insight(record.values)
        and is_buyer()
        and generate_insight(places.find_restaurant(slug), now=now)
    ):
        record = read()
    return Content(render_record(record), record.sold, partial(render_etag_content, record))


def landmarks(params: dict[str, Any], *, now: datetime) -> Content:
    return read_replica.read_from_replica(
        lambda: list_content(lookups.LandmarkAnswer(search_landmarks(**params, now=now)).data)
    )


def suggestions(params: dict[str, Any], *, now: datetime) -> Content:
    page = single_page(autocomplete.suggest(**params), limit=params["limit"], now=now)
    return list_content(lookups.SuggestionAnswer(page).data)


def matches(params: dict[str, Any], *, now: datetime) -> Content:
    """Return the restaurants that match a record of the caller."""
    found = match_endpoint.find_matches(**params)
    lines = attribution.restaurant_attribution([match.slug for match in found])
    page = AttributedListing(rows=found, limit=params["limit"], as_of=now, attribution=lines)
    return list_content(lookups.MatchAnswer(page).data)


def markets(*, now: datetime) -> Content:
    rows = Market.objects.order_by("name", "slug")[:MAX_DICTIONARY_ROWS]
    return list_content(lookups.MarketAnswer(single_page(rows, now=now)).data)


def cuisines(params: dict[str, Any], *, now: datetime) -> Content:
    rows = reference_data.list_cuisines(**params)[:MAX_DICTIONARY_ROWS]
    return list_content(lookups.CuisineAnswer(single_page(rows, now=now)).data)


def attributes(*, now: datetime) -> Content:
    rows = Attribute.objects.order_by("key")[:MAX_DICTIONARY_ROWS]
    return list_content(lookups.AttributeAnswer(single_page(rows, now=now)).data)


def single_page(rows: Iterable[Any], *, now: datetime, limit: int = MAX_DICTIONARY_ROWS) -> Listing[Any]:
    return Listing(rows=list(rows), limit=limit, as_of=now)


def list_content(answer: Any) -> Content:
    """Return a list whose ETag depends on its rows only."""
    return Content(JSONRenderer().render(answer), etag_of=partial(JSONRenderer().render, answer["data"]))


def reviews(slug: str, params: dict[str, Any], *, now: datetime) -> Content:
    """Return a page of reviews, which is sold unless it is empty."""
    page = list_reviews_by_slug(slug, ReviewQuery(**params), now=now)
    rows = orjson.Fragment(page.json) if page.rows else ()
    return paid_page({"data": rows, "summary": page.summary, "attribution": page.attribution}, page, product="reviews")


def photos(slug: str, params: dict[str, Any], *, now: datetime) -> Content:
    """Return a page of photos, which is sold unless it is empty."""
    page = list_photos(places.find_place(slug).pk, **params, now=now)
    return paid_page({"data": page.rows, "attribution": page.attribution}, page, product="photos")


def paid_page(members: dict[str, Any], page: PageInfo, *, product: str) -> Content:
    """Return a page that is sold unless it is empty; its ETag does not depend on the pagination."""
    content = orjson.dumps(members, option=orjson.OPT_UTC_Z)
    pagination = {
        "limit": page.limit,
        "next_cursor": page.next_cursor,
        "has_more": page.has_more,
        "as_of": page.as_of.replace(microsecond=0),
    }
    body = content[:-1] + b',"pagination":' + orjson.dumps(pagination, option=orjson.OPT_UTC_Z) + b"}"
    return Content(body, (product,) if members["data"] else (), lambda: content)


def context(slug: str, params: dict[str, Any]) -> Content:
    """Return the landmarks near a restaurant, which are sold unless there are none."""
    place = places.find_place(slug)
    entries = list_landmarks(place, kinds=params.get("kind", KINDS), radius_m=params["radius"], limit=params["limit"])
    members = {
        "slug": place.slug,
        "radius_m": params["radius"],
        "neighborhood": describe_neighborhood(place),
        "entries": entries,
        "attribution": attribution.attribution_lines({entry["source"] for entry in entries}),
    }
    return Content(JSONRenderer().render(members), ("context",) if entries else ())


def insight(slug: str, *, now: datetime, is_buyer: Callable[[], bool] = never) -> Content:
    """Return the insight of a restaurant, which is sold if there is one.

    If it is missing or stale, and only then, `is_buyer` is called; for a caller who could buy it, it is generated: at
    once if that is quick, or else by a task.
    """
    place = places.find_place(slug)
    group = insights.read_group(place, now)
    if insights.needs_insight(group) and is_buyer() and generate_insight(places.find_restaurant(slug), now=now):
        group = insights.read_group(place, now)
    record = InsightAnswer({"slug": place.slug, **group}).data
    return Content(JSONRenderer().render(record), ("ai_insight",) if group["ai_insight"] else ())


def generate_insight(place: Restaurant, *, now: datetime) -> bool:
    """Generate an insight, or enqueue a task for it, once a minute; return whether it was generated."""
    result = write_or_queue(place, now=now)
    if result is OnDemandResult.QUEUED:
        enqueue_insights(requested_only=True)
    return result is OnDemandResult.WRITTEN


def versions(slug: str, params: dict[str, Any], *, now: datetime) -> Content:
    """Return a page of the history of a restaurant, which is sold if it contains changes."""
    page = history.list_versions(slug, **params, now=now)
    sold = (field_groups.HISTORY,) if history.has_changes(page.rows) else ()
    # The cursor and the moment of the page are not part of the ETag.
    return Content(JSONRenderer().render(HistoryAnswer(page).data), sold, lambda: repr(page.rows).encode())


def offers(params: dict[str, Any], *, now: datetime) -> Content:
    return page_content(FlowOfferAnswer(offers_search.search_offers(offers_search.OfferQuery(**params), now=now)).data)


def restaurant_offers(slug: str, params: dict[str, Any], *, now: datetime) -> Content:
    page = offers_search.list_restaurant_slots(
        places.find_restaurant(slug),
        day=params.get("date"),
        party_size=params.get("party_size"),
        limit=params["limit"],
        cursor=params.get("cursor"),
        now=now,
    )
    return page_content(FlowSlotAnswer(page).data)


def page_content(page: Any) -> Content:
    """Return a page whose ETag does not depend on its cursor and moment."""

    def etag_content() -> bytes:
        members = {name: part for name, part in page.items() if name != "pagination"}
        return JSONRenderer().render([members, page["pagination"]["has_more"]])

    return Content(JSONRenderer().render(page), etag_of=etag_content)
