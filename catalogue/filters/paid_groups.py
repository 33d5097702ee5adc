"""Parameters of reviews, photos and context."""

from typing import Any

from catalogue.field_groups.context import KINDS
from catalogue.filters.param_types import Flag, Words
from catalogue.models import Photo
from catalogue.reviews.listing import Order
from framework.api.fields import TextField
from framework.api.query_params.declarations import (
    DATE_PATTERN,
    DATETIME_PATTERN,
    ChoiceParam,
    IntegerParam,
    ListParam,
    ParsedTextParam,
    QueryParams,
    parse_datetime,
)

LANGUAGE = "[a-z]{2,3}"


class Since(ParsedTextParam):
    """A date or a moment, parsed as a moment; a date is its start in UTC."""

    def __init__(self, **options: Any) -> None:
        hint = "This must be a date like 2026-11-21 or a moment like 2026-11-21T19:30:00Z; write + as %2B."
        super().__init__(pattern=f"^({DATE_PATTERN}|{DATETIME_PATTERN})$", hint=hint, **options)

    def to_internal_value(self, data: Any) -> Any:
        return parse_datetime(super().to_internal_value(data))


class Numbers(ListParam):
    """Numbers separated by commas."""

    def to_internal_value(self, data: Any) -> Any:
        return tuple(int(number) for number in super().to_internal_value(data))


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
        of=LANGUAGE,
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
    limit = IntegerParam(required=False, default=20, min_value=1, max_value=50, help_text="Reviews on a page.")
    # It contains the database snapshot of the first page.
    cursor = TextField(
        required=False,
        max_length=4000,
        help_text="`next_cursor` of the page before, with the same parameters; valid for an hour.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        words = attrs.pop("q", "")
        return {**attrs, "sort": Order(attrs["sort"]), "words": tuple(dict.fromkeys(words.split()))}


class PhotoParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/photos."""

    kind = ChoiceParam(choices=Photo.Kind.values, required=False, help_text="The subject of the photo.")
    limit = IntegerParam(required=False, default=20, min_value=1, max_value=50, help_text="Photos on a page.")
    cursor = TextField(
        required=False, max_length=400, help_text="`next_cursor` of the page before; valid for an hour."
    )


class ContextParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/context."""

    kind = ListParam(
        required=False,
        of="|".join(KINDS),
        max_length=100,
        hint=f"This must be some of these with commas between them: {', '.join(KINDS)}.",
        help_text=f"With commas between them: {', '.join(KINDS)}.",
    )
    radius = IntegerParam(
        required=False, default=1_500, min_value=1, max_value=3_000, help_text="Metres in a straight line."
    )
    limit = IntegerParam(required=False, default=20, min_value=1, max_value=50, help_text="Entries, at most.")
