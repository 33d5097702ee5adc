"""The parameters of a search."""

from typing import Any

from catalogue.filters.fields import (
    SLUG,
    FieldGroups,
    LatLng,
    Listed,
    OpenAt,
    Parameters,
    PriceLevels,
    SortBy,
    Stars,
    Whole,
    Words,
)
from catalogue.search import OPEN_AHEAD, RADIUS_M, Sort
from config.api.fields import Text


class Search(Parameters):
    """The parameters of GET /v1/restaurants; catalogue.search.Query has the same names."""

    near = Words(
        required=False,
        max_length=120,
        help_text="The reference point by its name: a landmark, museum, park, neighborhood, city, or the name or"
        " address of a restaurant. A market after a comma tells equal names apart: `Soho, New York`. Sorts by"
        " distance.",
    )
    ll = LatLng(required=False, help_text="The reference point itself: latitude,longitude. Instead of `near`.")
    radius = Whole(
        required=False,
        min_value=1,
        max_value=20_000,
        help_text=f"Metres around the reference point; {RADIUS_M} when left out.",
    )
    q = Words(
        required=False,
        max_length=120,
        help_text="Words of the name, the cuisine or the neighborhood; the last one may be unfinished. Where nothing"
        " has these words, names that are spelt like them.",
    )
    market = Text(required=False, max_length=40, pattern=f"^{SLUG}$", help_text="A slug of GET /v1/markets.")
    neighborhood = Words(required=False, max_length=120, help_text="The name of a neighborhood, in any case.")
    open = OpenAt(
        required=False,
        help_text="Only restaurants that are open then: `now`; the next HH:MM on the clock of the place that is asked"
        f" about; or a moment of RFC 3339 within {OPEN_AHEAD.days} days.",
    )
    cuisine = Listed(
        required=False,
        of=SLUG,
        max_length=400,
        hint="This must be slugs of GET /v1/cuisines with commas between them: seafood,danish.",
        help_text="Slugs of GET /v1/cuisines with commas between them; a restaurant has at least one of them.",
    )
    price = PriceLevels(
        required=False,
        of="[1-4]",
        max_length=40,
        hint="This must be price levels with commas between them, each from 1 to 4: 1,2.",
        help_text="Price levels with commas between them: 1,2.",
    )
    price_max = Whole(required=False, min_value=1, max_value=4, help_text="The highest price level.")
    rating_min = Stars(required=False, help_text="The lowest star rating.")
    reviews_min = Whole(required=False, min_value=0, max_value=999_999_999, help_text="The fewest reviews.")
    sort = SortBy(
        required=False,
        default=Sort.BEST,
        help_text="`best` is by relevance with `q`, by distance with a reference point, else by number of reviews;"
        " `distance` needs a reference point.",
    )
    limit = Whole(required=False, default=20, min_value=1, max_value=50, help_text="Restaurants on a page.")
    cursor = Text(
        required=False,
        max_length=400,
        help_text="`next_cursor` of the page before, with the same parameters; good for an hour.",
    )
    fields = FieldGroups(required=False, in_lists=True, help_text="Field groups; lists have `core` only.")  # type: ignore[assignment]  # a name of the contract

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Leave out the selector, which a list does not need."""
        return {name: value for name, value in attrs.items() if name != "fields"}
