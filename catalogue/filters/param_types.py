"""Types of query parameters: how values are written and parsed."""

import re
from collections.abc import Sequence
from datetime import time
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalogue.field_groups import GROUPS
from catalogue.search import BoundingBox, Facet, Sort
from catalogue.search.text.vocabulary import Vocabulary
from framework.api.fields import TextField
from framework.api.query_params.declarations import (
    DATE_PATTERN,
    DATETIME_PATTERN,
    TIME_PATTERN,
    IntegerParam,
    ListParam,
    ParsedTextParam,
    parse_datetime,
)
from framework.errors import InvalidRequest, unknown_name

# A moment, in local time without an offset.
LOCAL_MOMENT = rf"{DATE_PATTERN}T{TIME_PATTERN}(:[0-5][0-9](\.[0-9]{{1,6}})?)?(Z|[+-]{TIME_PATTERN})?"
SLUG = "[a-z0-9]+(-[a-z0-9]+)*"
# Web Mercator ends at 85 degrees.
LAT = r"-?(85(\.0{1,12})?|(8[0-4]|[0-7]?[0-9])(\.[0-9]{1,12})?)"
LNG = r"-?(180(\.0{1,12})?|(1[0-7][0-9]|[0-9]?[0-9])(\.[0-9]{1,12})?)"


def integer(min_value: int, max_value: int, help_text: str, **options: Any) -> IntegerParam:
    return IntegerParam(required=False, min_value=min_value, max_value=max_value, help_text=help_text, **options)


def page_cursor(*, needs_same_parameters: bool = False, max_length: int = 400) -> TextField:
    condition = ", with the same parameters" if needs_same_parameters else ""
    return TextField(
        required=False,
        max_length=max_length,
        help_text=f"`next_cursor` of the page before{condition}; valid for an hour.",
    )


def some_of(values: Sequence[str], meaning: str = "") -> ListParam:
    known = ", ".join(values)
    return ListParam(
        required=False,
        of="|".join(values),
        max_length=100,
        hint=f"This must be some of these with commas between them: {known}.",
        help_text=f"{meaning} With commas between them: {known}.".lstrip(),
    )


def unknown_word(param: str, value: str, known: Sequence[str]) -> InvalidRequest:
    """Return the error for a value that is none of the known ones, with similar ones."""
    similar = get_close_matches(value, known, n=3, cutoff=0.5)
    hint = f" Did you mean `{similar[0]}`?" if similar else ""
    return InvalidRequest(
        f"Unknown {param} `{value[:80]}`.{hint} This must be one of: {', '.join(known)}.",
        param=param,
        extra={"suggestions": similar},
    )


@extend_schema_field({"type": "number", "minimum": 1, "maximum": 5, "example": 4.5})
class Stars(serializers.Field[Decimal, str, str, Any]):
    """A star rating in plain decimals."""

    def to_internal_value(self, data: str) -> Decimal:
        if not re.fullmatch(r"[1-4](\.[0-9]{1,20})?|5(\.0{1,20})?", data):
            raise serializers.ValidationError("This must be a number from 1 to 5: 4.5.")
        return Decimal(data)


class Since(ParsedTextParam):
    """A date or a moment, parsed as a moment; a date is its start in UTC."""

    def __init__(self, **options: Any) -> None:
        hint = "This must be a date like 2026-11-21 or a moment like 2026-11-21T19:30:00Z; write + as %2B."
        super().__init__(pattern=f"^({DATE_PATTERN}|{DATETIME_PATTERN})$", hint=hint, **options)

    def to_internal_value(self, data: Any) -> Any:
        return parse_datetime(super().to_internal_value(data))


class Numbers(ListParam):
    def to_internal_value(self, data: Any) -> Any:
        return tuple(int(number) for number in super().to_internal_value(data))


class MarketSlug(ParsedTextParam):
    looks_up = True

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=40, pattern=f"^{SLUG}$", **options)

    def to_internal_value(self, data: Any) -> str:
        if self.max_length and len(data) <= self.max_length:
            Vocabulary.load().market(data)
        return super().to_internal_value(data)


class Words(ParsedTextParam):
    """Words, parsed with single spaces."""

    def to_internal_value(self, data: Any) -> str:
        return " ".join(super().to_internal_value(data).split())


class LatLng(ParsedTextParam):
    """A point in degrees, parsed as (latitude, longitude)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=f"^{LAT},{LNG}$",
            hint="This must be latitude,longitude in degrees, for example 55.6737,12.5681; latitude from -85 to 85.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        latitude, longitude = super().to_internal_value(data).split(",")
        return float(latitude), float(longitude)


class BoundingBoxParam(ParsedTextParam):
    """A box in degrees, parsed as search.BoundingBox."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=f"^{LNG},{LAT},{LNG},{LAT}$",
            hint="This must be west,south,east,north in degrees, for example 12.5,55.65,12.6,55.7.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        west, south, east, north = map(float, super().to_internal_value(data).split(","))
        return BoundingBox(west, south, east, north)


class OpenAt(ParsedTextParam):
    """`now`, a time of day or a moment, parsed as "now", a time or a datetime (in UTC if it has an offset)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=f"^(now|{TIME_PATTERN}|{LOCAL_MOMENT})$",
            hint="This must be `now`, a time HH:MM, or a moment: 2026-11-21T19:30 on the clock of the place, or with"
            " an offset, whose + is written %2B.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        if text == "now":
            return "now"
        if len(text) == len("HH:MM"):
            return time.fromisoformat(text)
        has_offset = re.search(r"T.*[Z+-]", text)
        return parse_datetime(text) if has_offset else parse_datetime(text).replace(tzinfo=None)


class LocalTimeOfDay(ParsedTextParam):
    """A minute on the clock of the place, parsed as a datetime without a zone."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=f"^{DATE_PATTERN}T{TIME_PATTERN}$",
            hint="This must be a day and a time on the clock of the place: 2026-11-21T19:30.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        return parse_datetime(super().to_internal_value(data)).replace(tzinfo=None)


class SortBy(serializers.ChoiceField):
    def __init__(self, **options: Any) -> None:
        super().__init__(choices=[sort.value for sort in Sort], **options)

    def to_internal_value(self, data: Any) -> Any:
        if data not in self.choices:
            raise unknown_word("sort", data, list(self.choices))
        return Sort(data)


class FacetNames(ListParam):
    def __init__(self, **options: Any) -> None:
        super().__init__(of="|".join(Facet), **options)

    def to_internal_value(self, data: Any) -> Any:
        for name in str(data).split(","):
            if name not in list(Facet):
                raise unknown_word("facets", name, [facet.value for facet in Facet])
        return tuple(Facet(name) for name in super().to_internal_value(data))


class Flag(serializers.ChoiceField):
    """`true` or `false`, parsed as bool."""

    def __init__(self, **options: Any) -> None:
        super().__init__(choices=["true", "false"], **options)

    def to_internal_value(self, data: Any) -> Any:
        if data not in self.choices:
            raise serializers.ValidationError("This must be `true` or `false`.")
        return data == "true"


class FieldGroups(ListParam):
    def __init__(self, **options: Any) -> None:
        self.known = list(GROUPS)
        super().__init__(of="|".join(self.known), **options)

    def to_internal_value(self, data: Any) -> Any:
        for name in str(data).split(","):
            if name not in self.known:
                raise serializers.ValidationError(unknown_name("field group", name[:80], self.known).message)
        return super().to_internal_value(data)
