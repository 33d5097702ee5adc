"""Parameters of offers."""

from catalogue.filters.param_types import LatLng, MarketSlug, Words
from framework.api.fields import DateField, TextField, TimeField
from framework.api.query_params.declarations import IntegerParam, QueryParams

PARTY = "Guests: only offers for a party of this size."


class SlotParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/flow."""

    date = DateField(required=False, help_text="One day, in the restaurant's local time; by default the next 14 days.")
    party_size = IntegerParam(required=False, min_value=1, max_value=500, help_text=PARTY)
    limit = IntegerParam(required=False, default=50, min_value=1, max_value=200, help_text="Offers on a page.")
    cursor = TextField(
        required=False, max_length=400, help_text="`next_cursor` of the page before; valid for an hour."
    )


class OfferParams(QueryParams):
    """The parameters of GET /v1/flow/offers; catalogue.offers.search.OfferQuery has the same names."""

    near = Words(
        required=False,
        max_length=120,
        help_text="The reference point by its name, as in GET /v1/restaurants. Offers at the same time are sorted by"
        " distance.",
    )
    ll = LatLng(required=False, help_text="The reference point itself: latitude,longitude. Instead of `near`.")
    radius = IntegerParam(
        required=False,
        min_value=1,
        max_value=20_000,
        help_text="Metres around the reference point; by default 1500.",
    )
    market = MarketSlug(required=False, help_text="A slug of GET /v1/markets.")
    date = DateField(required=False, help_text="One day, in the restaurants' local time.")
    time = TimeField(required=False, help_text="From this local time on: 18:30.")
    party_size = IntegerParam(
        required=False, min_value=1, max_value=500, help_text=f"{PARTY[:-1]} with as many seats left."
    )
    percent_min = IntegerParam(required=False, min_value=1, max_value=90, help_text="The lowest percentage.")
    limit = IntegerParam(required=False, default=20, min_value=1, max_value=50, help_text="Offers on a page.")
    cursor = TextField(
        required=False,
        max_length=400,
        help_text="`next_cursor` of the page before, with the same parameters; valid for an hour.",
    )
