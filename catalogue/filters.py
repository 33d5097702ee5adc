"""The parameters of the catalogue's addresses: how each of them is written, and what it is read as."""

import re
from datetime import datetime, time
from decimal import Decimal
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request

from catalogue.groups import GROUPS
from catalogue.openings import MOST_DAYS
from catalogue.search import OPEN_AHEAD, RADIUS_M, Sort
from config.api import query
from config.api.fields import Day, Text
from config.api.refusal import unknown

SLUG = "[a-z0-9]+(-[a-z0-9]+)*"
TIME = r"([01][0-9]|2[0-3]):[0-5][0-9]"
# RFC 3339, section 5.6, without leap seconds.
DATE = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
MOMENT = rf"{DATE}T{TIME}:[0-5][0-9](\.[0-9]{{1,6}})?(Z|[+-]{TIME})"
# Web Mercator ends at 85 degrees.
LAT = r"-?(85(\.0{1,12})?|(8[0-4]|[0-7]?[0-9])(\.[0-9]{1,12})?)"
LNG = r"-?(180(\.0{1,12})?|(1[0-7][0-9]|[0-9]?[0-9])(\.[0-9]{1,12})?)"


class Whole(serializers.IntegerField):
    """A whole number in ASCII digits, with both its bounds given."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number."""
        lowest, highest = self.min_value or 0, self.max_value or 0
        if not re.fullmatch("[0-9]{1,15}", data) or not lowest <= int(data) <= highest:
            raise serializers.ValidationError(f"This must be a whole number from {lowest} to {highest}.")
        return int(data)


@extend_schema_field({"type": "number", "minimum": 1, "maximum": 5, "example": 4.5})
class Stars(serializers.Field[Decimal, str, str, Any]):
    """A star rating in plain decimals."""

    def to_internal_value(self, data: str) -> Decimal:
        """Return the number."""
        if not re.fullmatch(r"[1-4](\.[0-9]{1,20})?|5(\.0{1,20})?", data):
            raise serializers.ValidationError("This must be a number from 1 to 5: 4.5.")
        return Decimal(data)


class Read(Text):
    """Text that is read as something else, which is why its length is judged first."""

    def to_internal_value(self, data: Any) -> str:
        """Return the text."""
        if self.max_length and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class Listed(Read):
    """Several values with commas between them; read as a tuple without repetitions."""

    def __init__(self, *, of: str, **options: Any) -> None:
        super().__init__(pattern=f"^({of})(,({of}))*$", **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the values."""
        return tuple(dict.fromkeys(super().to_internal_value(data).split(",")))

    def to_representation(self, value: Any) -> str:
        """Return the values as a caller writes them."""
        return ",".join(map(str, value))


class PriceLevels(Listed):
    """Price levels; read as numbers."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the numbers."""
        return tuple(int(level) for level in super().to_internal_value(data))


class Words(Read):
    """A few words; read without needless white space."""

    def to_internal_value(self, data: Any) -> str:
        """Return the words."""
        return " ".join(super().to_internal_value(data).split())


class LatLng(Read):
    """A point in degrees; read as (latitude, longitude)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=f"^{LAT},{LNG}$",
            hint="This must be latitude,longitude in degrees, for example 55.6737,12.5681; latitude from -85 to 85.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        """Return the two numbers."""
        latitude, longitude = super().to_internal_value(data).split(",")
        return float(latitude), float(longitude)


class OpenAt(Read):
    """`now`, a time of day or a moment; read as the word, a datetime.time or a datetime with its zone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=f"^(now|{TIME}|{MOMENT})$",
            hint="This must be `now`, a time HH:MM, or a moment like 2026-11-21T19:30:00Z; write the + of an offset as"
            " %2B.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        """Return what it means."""
        text = super().to_internal_value(data)
        if text == "now":
            return "now"
        try:
            return time.fromisoformat(text) if len(text) == len("HH:MM") else datetime.fromisoformat(text)
        except ValueError as error:
            raise serializers.ValidationError("There is no such moment in the calendar.") from error


class SortBy(serializers.ChoiceField):
    """An order of hits; read as Sort."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=[sort.value for sort in Sort], **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the order."""
        if data not in self.choices:
            raise serializers.ValidationError(f"This must be one of: {', '.join(self.choices)}.")
        return Sort(data)


class FieldGroups(Listed):
    """The selector of field groups; read as their names."""

    def __init__(self, *, in_lists: bool = False, **options: Any) -> None:
        self.known = [name for name, group in GROUPS.items() if group.in_lists or not in_lists]
        super().__init__(of="|".join(self.known), **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the names."""
        for name in str(data).split(","):
            if name not in self.known:
                raise serializers.ValidationError(unknown("field group", name[:80], self.known).message)
        return super().to_internal_value(data)


class Parameters(serializers.Serializer[Any]):
    """A query string whose parameters are all known, each given once and not empty."""

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        """The values, where something was given or has a default. Raises InvalidRequest and ValidationError."""
        parameters = cls()
        form = cls(data=query.read(request, list(parameters.fields)))
        form.is_valid(raise_exception=True)
        return dict(form.validated_data)


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


class Selection(Parameters):
    """The parameters of GET /v1/restaurants/{slug}."""

    fields = FieldGroups(  # type: ignore[assignment]  # a name of the contract
        required=False,
        default=("core",),
        help_text="Field groups with commas between them, in any order. `core` is free, the others are paid for.",
    )


class Days(Parameters):
    """The parameters of GET /v1/restaurants/{slug}/hours."""

    to = Day(required=False, help_text=f"The last day, at most {MOST_DAYS} days in all; six days after `from`.")

    def get_fields(self) -> dict[str, Any]:
        """Add the parameter whose name is a word of Python."""
        first = Day(required=False, help_text="The first day, on the restaurant's clock; today when left out.")
        return {"from": first, **super().get_fields()}


class LookUp(Parameters):
    """The parameters of GET /v1/landmarks."""

    q = Words(required=False, max_length=120, help_text="A name, or its beginning; may be misspelt.")
    ll = LatLng(
        required=False,
        help_text="latitude,longitude: of equal matches the nearest first. Without `q` the landmarks within 20 km.",
    )
    limit = Whole(required=False, default=20, min_value=1, max_value=50, help_text="Landmarks on a page.")
    cursor = Text(required=False, max_length=400, help_text="`next_cursor` of the page before; good for an hour.")


class Pages(Parameters):
    """The parameters of a list that is only paged."""

    limit = Whole(required=False, default=20, min_value=1, max_value=50, help_text="Records on a page.")
    cursor = Text(required=False, max_length=400, help_text="`next_cursor` of the page before; good for an hour.")


class Link(Parameters):
    """What signs a link to a file. Without either of them a session has to come along."""

    until = Whole(required=False, min_value=0, max_value=10**12, help_text="When the link is over, in Unix seconds.")
    signature = Text(required=False, max_length=100, help_text="As the link in the record has it.")
