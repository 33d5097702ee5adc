"""How the values of parameters are written, and what each is read as."""

import re
from collections.abc import Sequence
from datetime import time
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalogue.field_groups import GROUPS
from catalogue.search import Box, Facet, Sort
from catalogue.search.text.vocabulary import Names
from framework.api.query_params.declarations import (
    DATE_PATTERN,
    TIME_PATTERN,
    ListParam,
    ParsedTextParam,
    parse_datetime,
)
from framework.errors import InvalidRequest, unknown_name

# A moment, on the clock of a place where it has no offset.
ON_A_CLOCK = rf"{DATE_PATTERN}T{TIME_PATTERN}(:[0-5][0-9](\.[0-9]{{1,6}})?)?(Z|[+-]{TIME_PATTERN})?"
SLUG = "[a-z0-9]+(-[a-z0-9]+)*"
# Web Mercator ends at 85 degrees.
LAT = r"-?(85(\.0{1,12})?|(8[0-4]|[0-7]?[0-9])(\.[0-9]{1,12})?)"
LNG = r"-?(180(\.0{1,12})?|(1[0-7][0-9]|[0-9]?[0-9])(\.[0-9]{1,12})?)"


def unlike(param: str, value: str, known: Sequence[str]) -> InvalidRequest:
    """A refusal of a word that is none of the known ones, with those that it is like."""
    likely = get_close_matches(value, known, n=3, cutoff=0.5)
    hint = f" Did you mean `{likely[0]}`?" if likely else ""
    return InvalidRequest(
        f"Unknown {param} `{value[:80]}`.{hint} This must be one of: {', '.join(known)}.",
        param=param,
        extra={"suggestions": likely},
    )


@extend_schema_field({"type": "number", "minimum": 1, "maximum": 5, "example": 4.5})
class Stars(serializers.Field[Decimal, str, str, Any]):
    """A star rating in plain decimals."""

    def to_internal_value(self, data: str) -> Decimal:
        """Return the number."""
        if not re.fullmatch(r"[1-4](\.[0-9]{1,20})?|5(\.0{1,20})?", data):
            raise serializers.ValidationError("This must be a number from 1 to 5: 4.5.")
        return Decimal(data)


class PriceLevels(ListParam):
    """Price levels; read as numbers."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the numbers."""
        return tuple(int(level) for level in super().to_internal_value(data))


class MarketSlug(ParsedTextParam):
    """The slug of a market that there is."""

    looks_up = True

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=40, pattern=f"^{SLUG}$", **options)

    def to_internal_value(self, data: Any) -> str:
        """Return the slug. Raises InvalidRequest for an unknown one, with those that it is like."""
        if self.max_length and len(data) <= self.max_length:
            Names.load().market(data)
        return super().to_internal_value(data)


class Words(ParsedTextParam):
    """A few words; read without needless white space."""

    def to_internal_value(self, data: Any) -> str:
        """Return the words."""
        return " ".join(super().to_internal_value(data).split())


class LatLng(ParsedTextParam):
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


class Area(ParsedTextParam):
    """A box in degrees; read as search.Box."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=f"^{LNG},{LAT},{LNG},{LAT}$",
            hint="This must be west,south,east,north in degrees, for example 12.5,55.65,12.6,55.7.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        """Return the box."""
        west, south, east, north = map(float, super().to_internal_value(data).split(","))
        return Box(west, south, east, north)


class OpenAt(ParsedTextParam):
    """`now`, a time of day or a moment; read as the word, a datetime.time or a datetime, in UTC with an offset."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=f"^(now|{TIME_PATTERN}|{ON_A_CLOCK})$",
            hint="This must be `now`, a time HH:MM, or a moment: 2026-11-21T19:30 on the clock of the place, or with"
            " an offset, whose + is written %2B.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        """Return what it means."""
        text = super().to_internal_value(data)
        if text == "now":
            return "now"
        if len(text) == len("HH:MM"):
            return time.fromisoformat(text)
        has_offset = re.search(r"T.*[Z+-]", text)
        return parse_datetime(text) if has_offset else parse_datetime(text).replace(tzinfo=None)


class SortBy(serializers.ChoiceField):
    """An order of hits; read as Sort."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=[sort.value for sort in Sort], **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the order."""
        if data not in self.choices:
            raise unlike("sort", data, list(self.choices))
        return Sort(data)


class FacetNames(ListParam):
    """What hits are counted by; read as Facets."""

    def __init__(self, **options: Any) -> None:
        super().__init__(of="|".join(Facet), **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the facets."""
        for name in str(data).split(","):
            if name not in list(Facet):
                raise unlike("facets", name, [facet.value for facet in Facet])
        return tuple(Facet(name) for name in super().to_internal_value(data))


class Flag(serializers.ChoiceField):
    """`true` or `false`; read as bool."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=["true", "false"], **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the truth."""
        if data not in self.choices:
            raise serializers.ValidationError("This must be `true` or `false`.")
        return data == "true"


class FieldGroups(ListParam):
    """The selector of field groups; read as their names."""

    def __init__(self, *, in_lists: bool = False, **options: Any) -> None:
        self.known = [name for name, group in GROUPS.items() if group.in_lists or not in_lists]
        super().__init__(of="|".join(self.known), **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the names."""
        for name in str(data).split(","):
            if name not in self.known:
                raise serializers.ValidationError(unknown_name("field group", name[:80], self.known).message)
        return super().to_internal_value(data)
