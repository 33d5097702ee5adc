"""Parameters of offers."""

from catalogue.filters.param_types import LatLng, MarketSlug, Words, integer, page_cursor
from catalogue.filters.search import cuisines, diets
from catalogue.offers.search import OfferSort
from framework.api.fields import DateField, TimeField
from framework.api.query_params.declarations import ChoiceParam, QueryParams

PARTY = "Guests: only offers for a party of this size."


class SlotParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/flow."""

    date = DateField(required=False, help_text="One day, in the restaurant's local time; by default the next 14 days.")
    party_size = integer(1, 500, PARTY)
    limit = integer(1, 200, "Offers on a page.", default=50)
    cursor = page_cursor()


class OfferParams(QueryParams):
    """The parameters of GET /v1/flow/offers; catalogue.offers.search.OfferQuery has the same names."""

    near = Words(
        required=False,
        max_length=120,
        help_text="The reference point by its name, as in GET /v1/restaurants. Offers at the same time are sorted by"
        " distance.",
    )
    ll = LatLng(required=False, help_text="The reference point itself: latitude,longitude. Instead of `near`.")
    radius = integer(1, 20_000, "Metres around the reference point; by default 1500.")
    market = MarketSlug(required=False, help_text="A slug of GET /v1/markets.")
    date = DateField(required=False, help_text="One day, in the restaurants' local time.")
    time = TimeField(required=False, help_text="From this local time on: 18:30.")
    party_size = integer(1, 500, f"{PARTY[:-1]} with as many seats left.")
    percent_min = integer(1, 90, "The lowest percentage.")
    cuisine = cuisines("only offers of restaurants that have one of them, or a narrower one")
    diet = diets("only offers of restaurants that serve all of them, in any degree that the search takes")
    sort = ChoiceParam(
        required=False,
        default=OfferSort.TIME.value,
        choices=[each.value for each in OfferSort],
        help_text="`time` is the soonest first, then the nearest; `percent` the highest discount first.",
    )
    limit = integer(1, 50, "Offers on a page.", default=20)
    cursor = page_cursor(needs_same_parameters=True)
