"""What the answers of the data API say, and what in each is sold: the one call that REST and MCP both make."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import orjson

from catalogue import attribution, field_groups, history, places, reference_data, search, serializers
from catalogue.field_groups import insights
from catalogue.field_groups.context import KINDS, nearest, neighborhood
from catalogue.insights import OnDemandResult, write_or_queue
from catalogue.models import Attribute, Market, Restaurant
from catalogue.offers import search as offers_search
from catalogue.photos import list_photos
from catalogue.reviews.listing import ReviewQuery, list_reviews_by_slug
from catalogue.search.geocoding.landmarks import look_up
from catalogue.serializers.offers import FlowOfferAnswer, FlowSlotAnswer
from catalogue.serializers.paid_groups import InsightAnswer
from catalogue.tasks import enqueue_demanded_insights
from framework.api.pagination.cursor import Listing, PageInfo
from framework.api.renderers import JSONRenderer
from framework.db import read_replica

# A dictionary is listed whole; it would have to be paged beyond this.
DICTIONARY = 1_000


@dataclass(frozen=True, slots=True)
class Content:
    """The body of an answer in JSON, and the products in it that are paid for.

    `etag_of` gives what counts as its content where the body also tells what changes by itself, a cursor or a moment;
    None where the body is its content. It is called where an ETag is told, which MCP has none of.
    """

    body: bytes
    sold: tuple[str, ...] = ()
    etag_of: Callable[[], bytes | None] = lambda: None


def found(asked: dict[str, Any], *, now: datetime) -> Content:
    """A page of a search; `asked` are the parameters of filters.Search. Raises what search.find raises."""
    body, content = read_replica.read_from_replica(lambda: search.find(search.Query(**asked), now=now).told())
    return Content(body, etag_of=lambda: content)


def nobody() -> bool:
    """Nobody wants to buy anything."""
    return False


def restaurant(slug: str, asked: dict[str, Any], *, now: datetime, is_buyer: Callable[[], bool] = nobody) -> Content:
    """A restaurant with the field groups that were asked for; `asked` are the parameters of LookBack.

    `is_buyer` tells whether the caller could buy an insight; see `insight`.
    """
    read = partial(field_groups.record, slug, groups=asked["fields"], now=now, at=asked.get("at"))
    # What is sold is read where its price is, so that nobody is sold less than they were quoted for.
    record = (
        read_replica.read_from_replica(read)
        if {*asked["fields"]} == {field_groups.CORE} and not asked.get("at")
        else read()
    )
    if insights.is_wanting(record.values) and is_buyer() and is_written(places.find_restaurant(slug), now=now):
        record = read()
    return Content(serializers.document(record), record.sold, partial(serializers.content, record))


def landmarks(asked: dict[str, Any], *, now: datetime) -> Content:
    """Landmarks by what they are called; `asked` are the parameters of filters.LookUp."""
    return read_replica.read_from_replica(lambda: listed(serializers.LandmarkAnswer(look_up(**asked, now=now)).data))


def markets(*, now: datetime) -> Content:
    """The cities that the catalogue covers, by name."""
    rows = Market.objects.order_by("name", "slug")[:DICTIONARY]
    return listed(serializers.MarketAnswer(whole(rows, now=now)).data)


def cuisines(asked: dict[str, Any], *, now: datetime) -> Content:
    """The slugs that `cuisine` takes, by slug; `asked` are the parameters of filters.Language."""
    rows = reference_data.cuisines(**asked)[:DICTIONARY]
    return listed(serializers.CuisineAnswer(whole(rows, now=now)).data)


def attributes(*, now: datetime) -> Content:
    """The keys that `attributes` and `diet` take, by key."""
    rows = Attribute.objects.order_by("key")[:DICTIONARY]
    return listed(serializers.AttributeAnswer(whole(rows, now=now)).data)


def whole(rows: Iterable[Any], *, now: datetime, limit: int = DICTIONARY) -> Listing[Any]:
    """Rows as a list of one page."""
    return Listing(rows=list(rows), limit=limit, as_of=now)


def listed(answer: Any) -> Content:
    """A list that is the same as long as its rows are, whatever the moment."""
    return Content(JSONRenderer().render(answer), etag_of=partial(JSONRenderer().render, answer["data"]))


def reviews(slug: str, asked: dict[str, Any], *, now: datetime) -> Content:
    """A page of reviews; sold where it has any. `asked` are the parameters of filters.guests.Reviews."""
    page = list_reviews_by_slug(slug, ReviewQuery(**asked), now=now)
    rows = orjson.Fragment(page.json) if page.rows else ()
    return paged({"data": rows, "summary": page.summary, "attribution": page.attribution}, page, product="reviews")


def photos(slug: str, asked: dict[str, Any], *, now: datetime) -> Content:
    """A page of photos; sold where it has any. `asked` are the parameters of filters.guests.Photos."""
    page = list_photos(places.find_place(slug).pk, **asked, now=now)
    return paged({"data": page.rows, "attribution": page.attribution}, page, product="photos")


def paged(said: dict[str, Any], page: PageInfo, *, product: str) -> Content:
    """A page of a list that is sold where it holds something; its cursor and moment are new each time."""
    content = orjson.dumps(said, option=orjson.OPT_UTC_Z)
    pagination = {
        "limit": page.limit,
        "next_cursor": page.next_cursor,
        "has_more": page.has_more,
        "as_of": page.as_of.replace(microsecond=0),
    }
    body = content[:-1] + b',"pagination":' + orjson.dumps(pagination, option=orjson.OPT_UTC_Z) + b"}"
    return Content(body, (product,) if said["data"] else (), lambda: content)


def context(slug: str, asked: dict[str, Any]) -> Content:
    """What lies around a restaurant; sold where there is anything. `asked` are the parameters of Around."""
    place = places.find_place(slug)
    kinds = asked.get("kind", KINDS)
    entries = nearest(place, kinds=kinds, radius_m=asked["radius"], most=asked["limit"])
    said = {
        "slug": place.slug,
        "radius_m": asked["radius"],
        "neighborhood": neighborhood(place),
        "entries": entries,
        "attribution": attribution.lines({entry["source"] for entry in entries}),
    }
    return Content(JSONRenderer().render(said), ("context",) if entries else ())


def insight(slug: str, *, now: datetime, is_buyer: Callable[[], bool] = nobody) -> Content:
    """What the reviews of a restaurant say; sold where they say something.

    One that is missing or stale is written for a caller who could buy it, at once where that is quick; it is asked
    whether they could only then.
    """
    place = places.find_place(slug)
    said = insights.insight(place, now)
    if insights.is_wanting(said) and is_buyer() and is_written(places.find_restaurant(slug), now=now):
        said = insights.insight(place, now)
    record = InsightAnswer({"slug": place.slug, **said}).data
    return Content(JSONRenderer().render(record), ("ai_insight",) if said["ai_insight"] else ())


def is_written(place: Restaurant, *, now: datetime) -> bool:
    """Whether the insight that is wanted was written just now; if not, a task was enqueued for it, once a minute."""
    result = write_or_queue(place, now=now)
    if result is OnDemandResult.QUEUED:
        enqueue_demanded_insights()
    return result is OnDemandResult.WRITTEN


def versions(slug: str, asked: dict[str, Any], *, now: datetime) -> Content:
    """A page of what a restaurant was; sold where anything has changed. `asked` are the parameters of Versions."""
    page = history.page(slug, **asked, now=now)
    sold = (field_groups.HISTORY,) if history.has_changes(page.rows) else ()
    # The cursor and the moment of the list are new each time.
    return Content(JSONRenderer().render(serializers.HistoryAnswer(page).data), sold, lambda: repr(page.rows).encode())


def offers(asked: dict[str, Any], *, now: datetime) -> Content:
    """A page of offers of all restaurants; `asked` are the parameters of filters.flow.Offers."""
    return steady(FlowOfferAnswer(offers_search.find(offers_search.Question(**asked), now=now)).data)


def offers_of(slug: str, asked: dict[str, Any], *, now: datetime) -> Content:
    """A page of the offers of one restaurant; `asked` are the parameters of filters.flow.Slots."""
    page = offers_search.of_restaurant(
        places.find_restaurant(slug),
        day=asked.get("date"),
        party_size=asked.get("party_size"),
        limit=asked["limit"],
        cursor=asked.get("cursor"),
        now=now,
    )
    return steady(FlowSlotAnswer(page).data)


def steady(page: Any) -> Content:
    """A page whose moment and cursor are no part of what makes it another one."""

    def content() -> bytes:
        rest = {name: part for name, part in page.items() if name != "pagination"}
        return JSONRenderer().render([rest, page["pagination"]["has_more"]])

    return Content(JSONRenderer().render(page), etag_of=content)
