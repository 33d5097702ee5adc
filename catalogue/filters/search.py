"""Parameters of GET /v1/restaurants."""

from typing import Any

from rest_framework import serializers

from catalogue.field_groups import GROUPS
from catalogue.filters.param_types import (
    SLUG,
    BoundingBoxParam,
    FacetNames,
    FieldGroups,
    Flag,
    LatLng,
    LocalTimeOfDay,
    MarketSlug,
    Numbers,
    OpenAt,
    SortBy,
    Stars,
    Words,
    integer,
    page_cursor,
    some_of,
)
from catalogue.models.restaurants import KINDS
from catalogue.search import (
    DEFAULT_RADIUS_M,
    MAX_OPEN_AHEAD,
    MAX_OPEN_MINUTES,
    MAX_RADIUS_M,
    MAX_SLUGS,
    OFFER_TIME_TOLERANCE,
    Sort,
)
from framework.api.fields import DateField, TextField, TimeField
from framework.api.query_params.declarations import ChoiceParam, ListParam, QueryParams
from framework.errors import InvalidRequest, unknown_name

ALLOWED_WITH_SLUGS = ("slugs", "fields", "lang")
# Of slugs with field groups that are sold: each costs some queries, and clients refuse payments beyond a dollar.
MAX_PAID_SLUGS = 20
# Names of cuisines, attributes and diets as people write them: those of the vocabulary are suggested.
NAME = "[A-Za-z0-9_-]+( [A-Za-z0-9_-]+)*"
# Of an attribute.
DEGREE = "(:[a-z_]+)?"
OFFER_MINUTES = int(OFFER_TIME_TOLERANCE.total_seconds() // 60)


def cuisines(meaning: str) -> ListParam:
    return ListParam(
        required=False,
        of=NAME,
        max_length=400,
        hint="This must be slugs of GET /v1/cuisines separated by commas: seafood,danish.",
        help_text=f"Slugs of GET /v1/cuisines separated by commas; {meaning}.",
    )


def diets(meaning: str) -> ListParam:
    return ListParam(
        required=False,
        of=f"{NAME}{DEGREE}",
        max_length=200,
        hint="This must be diets separated by commas: vegan,gluten_free.",
        help_text="Diets separated by commas, each a key of GET /v1/attributes without its `diet_`: `vegan`;"
        f" {meaning}.",
    )


class SearchParams(QueryParams):
    """The parameters of GET /v1/restaurants; catalogue.search.Query has the same names."""

    near = Words(
        required=False,
        max_length=120,
        help_text="The reference point by its name: a landmark, neighborhood, street, postal code, airport, city, or"
        " the name or address of a restaurant. A market after a comma tells equal names apart: `Soho, New York`."
        " Sorts by distance.",
    )
    ll = LatLng(required=False, help_text="The reference point itself: latitude,longitude. Instead of `near`.")
    bbox = BoundingBoxParam(
        required=False,
        help_text="Only restaurants in this box: west,south,east,north in degrees, at most 100 km wide and high. With"
        " `near` or `ll` distances are measured from that point, and the box is the area.",
    )
    radius = integer(1, MAX_RADIUS_M, f"Metres around the reference point; by default {DEFAULT_RADIUS_M}.")
    q = Words(
        required=False,
        max_length=120,
        help_text="What people type: words of names, cuisines, neighborhoods and dishes that guests praise; words that"
        " mean a parameter become it (`cheap sushi near tivoli open now`), as `query.understood` says. The last may"
        " be a prefix.",
    )
    market = MarketSlug(required=False, help_text="A slug of GET /v1/markets.")
    neighborhood = Words(required=False, max_length=120, help_text="The name of a neighborhood, in any case.")
    open = OpenAt(
        required=False,
        help_text="Only restaurants that are open then: `now`; the next HH:MM on the clock of the place that is asked"
        f" about; or a moment of RFC 3339 within {MAX_OPEN_AHEAD.days} days, which is local time without an"
        " offset. Beyond 14 days a search with too many candidates is refused.",
    )
    open_for = integer(1, MAX_OPEN_MINUTES, "Only restaurants that stay open for so many minutes from `open` on.")
    cuisine = cuisines("a restaurant has at least one of them, or a narrower one: `japanese` finds sushi")
    cuisine_not = cuisines("a restaurant has none of them, nor a narrower one")
    attributes = ListParam(
        required=False,
        of=f"{NAME}{DEGREE}",
        max_length=400,
        hint="This must be keys of GET /v1/attributes separated by commas: outdoor_seating,wheelchair.",
        help_text="Keys of GET /v1/attributes separated by commas; a restaurant has all of them, and not only limited:"
        " `wheelchair:limited` takes that, too. Any other degree of an attribute is exact: `outdoor_seating:roof`.",
    )
    diet = diets(
        "a restaurant serves all of them. `gluten_free:limited` takes a limited offer, too; `vegan:only` serves"
        " nothing else"
    )
    kind = some_of(KINDS, "Only places of one of these kinds. Places of unknown kind are left out.")
    kind_not = some_of(KINDS, "No places of these kinds. Places of unknown kind are kept.")
    price = Numbers(
        required=False,
        of="[1-4]",
        max_length=40,
        hint="This must be price levels separated by commas, each from 1 to 4: 1,2.",
        help_text="Price levels separated by commas: 1,2.",
    )
    price_max = integer(1, 4, "The maximum price level.")
    rating_min = Stars(required=False, help_text="The minimum star rating.")
    reviews_min = integer(0, 999_999_999, "The minimum number of reviews.")
    offer = ChoiceParam(
        required=False, choices=["any"], help_text="`any`: only restaurants with a discount that can be booked now."
    )
    offer_min = integer(1, 90, "The minimum discount in percent.")
    date = DateField(required=False, help_text="A discount on this day, in the restaurant's local time.")
    time = TimeField(
        required=False,
        help_text=f"A discount at most {OFFER_MINUTES} minutes before or after this time of the same day, on the"
        " restaurant's clock.",
    )
    party_size = integer(
        1,
        500,
        "A discount for a party of so many: the offer takes it and has the seats left. With `bookable_at`: the guests"
        " of the table.",
    )
    bookable_at = LocalTimeOfDay(
        required=False,
        help_text="Only restaurants with a free table for `party_size` at this time on their clock, with or without an"
        " offer: `2026-11-21T19:30`. Refused if it has passed or is too far ahead for all of them, or lies between the"
        " seating times of all.",
    )
    sort = SortBy(
        required=False,
        default=Sort.BEST,
        help_text="`best` is by relevance with `q`, by distance with a reference point, else by number of reviews;"
        " `distance` needs a reference point; `offer` is by the highest discount that fits, and keeps those that have"
        " one.",
    )
    limit = integer(1, 50, "Restaurants on a page.", default=20)
    cursor = page_cursor(needs_same_parameters=True)
    fields = FieldGroups(  # type: ignore[assignment]  # a name of the contract
        required=False,
        help_text="Field groups: a search has `core` only, in the form of lists. With `slugs` any groups, as in the"
        " record of a restaurant; `core` is free, the others are paid for each record that has them.",
    )
    facets = FacetNames(
        required=False,
        max_length=200,
        help_text="Counts over all that match in the area, not only this page: names separated by commas.",
    )
    include_total = Flag(
        required=False, help_text="Return the number of matches in `pagination.total`, counted up to 10,000."
    )
    lang = TextField(
        required=False,
        pattern="^[a-z]{2}$",
        hint="This must be a language of ISO 639-1, two small letters: da.",
        help_text="A language of ISO 639-1, for the label of the cuisine: `da`; English where it has none.",
    )

    slugs = ListParam(
        required=False,
        of=SLUG,
        # Percent-encoding triples the length, and the web server accepts URLs of 64 kB.
        max_length=8_000,
        hint="This must be slugs of restaurants separated by commas.",
        help_text=f"Instead of a search: at most {MAX_SLUGS} restaurants by their slugs, in this order, from the"
        " Premium tier. With `fields` they are full records, at most"
        f" {MAX_PAID_SLUGS} with paid groups; without it as in a search, in the language of `lang`. Nothing else is"
        " allowed with it.",
    )

    def validate_slugs(self, slugs: tuple[str, ...]) -> tuple[str, ...]:
        if len(slugs) > MAX_SLUGS:
            raise serializers.ValidationError(f"These are {len(slugs)} slugs; give at most {MAX_SLUGS} at once.")
        return slugs

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if "slugs" in attrs:
            for name in self.initial_data:
                if name not in ALLOWED_WITH_SLUGS:
                    raise InvalidRequest(
                        f"`slugs` looks up restaurants and cannot be combined with `{name}`.", param=name
                    )
            groups = attrs.get("fields", ())
            if groups and "lang" in attrs:
                raise InvalidRequest("Full records have no `lang`: leave `fields` or `lang` out.", param="lang")
            if any(GROUPS[name].product for name in groups) and len(attrs["slugs"]) > MAX_PAID_SLUGS:
                message = f"Give at most {MAX_PAID_SLUGS} slugs with field groups that are sold."
                raise InvalidRequest(message, param="slugs")
            return {name: attrs[name] for name in ALLOWED_WITH_SLUGS if name in attrs}
        for name in attrs.get("fields", ()):
            if not GROUPS[name].in_lists:
                known = [each for each, group in GROUPS.items() if group.in_lists]
                raise InvalidRequest(unknown_name("field group", name, known).message, param="fields")
        return {name: value for name, value in attrs.items() if name != "fields"}
