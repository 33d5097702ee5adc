"""Parameters of one restaurant: its record, hours, reviews, photos, context and history."""

from typing import Any
from uuid import UUID

from catalogue.field_groups.context import DEFAULT_RADIUS_M, KINDS
from catalogue.filters.param_types import FieldGroups, Flag, Numbers, Since, Words, integer, page_cursor, some_of
from catalogue.hours.date_range import MAX_DAYS
from catalogue.insights.providers.base import MAX_CITATIONS
from catalogue.models import Photo
from catalogue.reviews.listing import Order
from framework.api.fields import DateField
from framework.api.query_params.declarations import ChoiceParam, DateTimeParam, ListParam, QueryParams
from framework.public_ids import decode, encode, pattern

# A page has room for so many reviews.
MAX_IDS = 50


class RestaurantParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}."""

    fields = FieldGroups(  # type: ignore[assignment]  # a name of the contract
        required=False,
        default=("core",),
        help_text="Field groups separated by commas, in any order. `core` is free, the others are paid.",
    )
    at = DateTimeParam(
        required=False,
        help_text="Only with `core`: the record as of this moment, to the microsecond. Sold as `history`.",
    )


class HoursParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/hours."""

    to = DateField(
        required=False, help_text=f"The last day, at most {MAX_DAYS} days in all; by default six days after `from`."
    )

    def get_fields(self) -> dict[str, Any]:
        first = DateField(required=False, help_text="The first day in local time; by default today.")
        return {"from": first, **super().get_fields()}


class HistoryParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/history."""

    limit = integer(1, 100, "Versions on a page.", default=20)
    cursor = page_cursor()


class ReviewIds(ListParam):
    """Ids of reviews, parsed to their keys."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            of=pattern("rev").strip("^$"),
            max_length=MAX_IDS * (len(encode("rev", UUID(int=0))) + 1) - 1,
            hint=f"This must be ids of at most {MAX_IDS} reviews: rev_...,rev_...",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        return tuple(decode("rev", public_id) for public_id in super().to_internal_value(data))


class InsightParams(QueryParams):
    """The parameter of GET /v1/restaurants/{slug}/insight."""

    citations = integer(
        0, MAX_CITATIONS, "Ids of reviews that each claim cites, at most; the newest.", default=MAX_CITATIONS
    )


class ReviewParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/reviews."""

    sort = ChoiceParam(
        choices=[order.value for order in Order],
        required=False,
        default=Order.RELEVANT.value,
        help_text="`relevant` weighs votes, length, photos and age.",
    )
    stars = Numbers(
        required=False,
        of="[1-5]",
        max_length=40,
        hint="This must be stars with commas between them, each from 1 to 5: 1,2.",
        help_text="Stars with commas between them: 1,2.",
    )
    lang = ListParam(
        required=False,
        of="[a-z]{2,3}",
        max_length=100,
        hint="This must be languages of ISO 639-1 with commas between them: de,en.",
        help_text="Languages of ISO 639-1 with commas between them: de,en.",
    )
    with_photos = Flag(required=False, help_text="`true`: only with photos; `false`: only without.")
    has_reply = Flag(required=False, help_text="`true`: only with a reply of the owner; `false`: only without.")
    since = Since(required=False, max_length=40, help_text="Created on this day (UTC) or at this moment, or later.")
    q = Words(
        required=False,
        max_length=120,
        help_text="Words that the text contains, all of them, ignoring case and accents; parts of words too.",
    )
    ids = ReviewIds(
        required=False, help_text=f"Only these reviews, by their ids with commas between them; at most {MAX_IDS}."
    )
    limit = integer(1, 50, "Reviews on a page.", default=20)
    # It contains the database snapshot of the first page.
    cursor = page_cursor(needs_same_parameters=True, max_length=4000)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        words = attrs.pop("q", "")
        return {**attrs, "sort": Order(attrs["sort"]), "words": tuple(dict.fromkeys(words.split()))}


class PhotoParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/photos."""

    kind = ChoiceParam(choices=Photo.Kind.values, required=False, help_text="The subject of the photo.")
    limit = integer(1, 50, "Photos on a page.", default=20)
    cursor = page_cursor()


class ContextParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/context."""

    kind = some_of(KINDS)
    radius = integer(1, 3_000, "Metres in a straight line.", default=int(DEFAULT_RADIUS_M))
    limit = integer(1, 50, "Entries, at most.", default=20)
