"""Parameters of the history and the change feed."""

from catalogue.filters.param_types import MarketSlug
from catalogue.filters.record_params import Selection
from catalogue.models import Version
from framework.api.fields import TextField
from framework.api.query_params.declarations import ChoiceParam, DateTimeParam, IntegerParam, ListParam, QueryParams


class RestaurantParams(Selection):
    """The parameters of GET /v1/restaurants/{slug}."""

    at = DateTimeParam(
        required=False,
        help_text="Only with `core`: the record as of this moment, to the microsecond. Sold as `history`.",
    )


class HistoryParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/history."""

    limit = IntegerParam(required=False, default=20, min_value=1, max_value=100, help_text="Versions on a page.")
    cursor = TextField(
        required=False, max_length=400, help_text="`next_cursor` of the page before; valid for an hour."
    )


class ChangeParams(QueryParams):
    """The parameters of GET /v1/changes."""

    since = IntegerParam(
        required=False,
        default=0,
        min_value=0,
        max_value=10**15 - 1,
        help_text="`next_since` of the page before; the feed begins with the oldest change.",
    )
    limit = IntegerParam(required=False, default=100, min_value=1, max_value=1000, help_text="Changes on a page.")
    market = MarketSlug(required=False, help_text="A slug of GET /v1/markets.")
    type = ListParam(
        required=False,
        of="|".join(Version.Kind.values),
        max_length=100,
        hint=f"This must be some of these with commas between them: {', '.join(Version.Kind.values)}.",
        help_text=f"With commas between them: {', '.join(Version.Kind.values)}.",
    )
    include = ChoiceParam(
        choices=["record"],
        required=False,
        help_text="`record`: include the current free fields of the restaurant.",
    )
