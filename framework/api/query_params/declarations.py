"""Query parameters: a query string whose parameters are all known, and how the values are written that many share."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

from django.core.validators import MaxLengthValidator, MinLengthValidator
from rest_framework import serializers
from rest_framework.fields import SkipField, empty
from rest_framework.request import Request

from framework.api.fields import TextField
from framework.api.query_params import parser

TIME_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9]"
# RFC 3339, section 5.6, without leap seconds.
DATE_PATTERN = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
DATETIME_PATTERN = rf"{DATE_PATTERN}T{TIME_PATTERN}:[0-5][0-9](\.[0-9]{{1,6}})?(Z|[+-]{TIME_PATTERN})"


# Letters of a query string that is worth remembering.
MAX_CACHED_LENGTH = 40
# Of each field of a class of parameters its name, itself bound to a serializer, the method of the class that judges
# what it read, and whether it is asked where nothing was given: for a default, or as it may not be left out.
Readers = tuple[tuple[str, Any, Callable[[Any, Any], Any] | None, bool], ...]


class QueryParams(serializers.Serializer[Any]):
    """A query string whose parameters are all known, each given once and not empty.

    Its fields are bound once, as reading changes none: a serializer copies all of its own for each request.
    """

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        """The values, where something was given or has a default. Raises InvalidRequest and ValidationError."""
        asked = request.META.get("QUERY_STRING", "")
        # Most callers ask in a few ways; whatever is long, or names what rows say that there is, is read each time.
        is_remembered = len(asked) <= MAX_CACHED_LENGTH and _is_judged_alone(cls)
        return dict(_remembered(cls, asked)) if is_remembered else cls.judged(asked)

    @classmethod
    def judged(cls, asked: str) -> dict[str, Any]:
        """The values in this query string. Raises InvalidRequest and ValidationError."""
        given = parser.parse_query_string(asked, _names(cls))
        # A field that is made raises a counter of the class of all fields, and Python then forgets what it has learned
        # of their methods; so does a serializer, which is one. This one comes without either.
        form = object.__new__(cls)
        vars(form).update(vars(_form(cls)), initial_data=given)
        values: dict[str, Any] = form.run_validation(given)
        return values

    def to_internal_value(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The values of what was given, by name. Raises ValidationError with all that is wrong with them.

        What serializers do, but fields that have nothing to say are not asked.
        """
        values: dict[str, Any] = {}
        wrong: dict[str, Any] = {}
        for name, field, judge, says_something in _readers(type(self)):
            given = data.get(name, empty)
            if given is empty and not says_something:
                continue
            try:
                value = field.run_validation(given)
                values[name] = value if judge is None else judge(self, value)
            except serializers.ValidationError as error:
                wrong[name] = error.detail
            except SkipField:
                pass
        if wrong:
            raise serializers.ValidationError(wrong)
        return values

    def run_validators(self, value: dict[str, Any]) -> None:
        """There are none: `validate` judges what goes together."""


@cache
def _form(parameters: type[QueryParams]) -> QueryParams:
    return parameters(data={})


@cache
def _is_judged_alone(parameters: type[QueryParams]) -> bool:
    """Whether no field looks anything up: a field that does says so by `looks_up`."""
    return not any(getattr(field, "looks_up", False) for _, field, *_ in _readers(parameters))


@lru_cache(maxsize=1024)
def _remembered(parameters: type[QueryParams], asked: str) -> Mapping[str, Any]:
    """What was read of this query string before: nothing that any of ours reads depends on the clock."""
    return parameters.judged(asked)


@cache
def _readers(parameters: type[QueryParams]) -> Readers:
    return tuple(
        (name, field, getattr(parameters, f"validate_{name}", None), field.required or field.default is not empty)
        for name, field in _form(parameters).fields.items()
    )


@cache
def _names(parameters: type[QueryParams]) -> tuple[str, ...]:
    return tuple(name for name, *_ in _readers(parameters))


class IntegerParam(serializers.IntegerField):
    """A whole number in ASCII digits, with both its bounds given."""

    def to_internal_value(self, data: Any) -> int:
        """Return the number."""
        lowest, highest = self.min_value or 0, self.max_value or 0
        if not re.fullmatch("[0-9]{1,15}", data) or not lowest <= int(data) <= highest:
            raise serializers.ValidationError(f"This must be a whole number from {lowest} to {highest}.")
        return int(data)


class ChoiceParam(serializers.ChoiceField):
    """One of a few words."""

    def to_internal_value(self, data: Any) -> Any:
        """Return the word."""
        if data not in self.choices:
            raise serializers.ValidationError(f"This must be one of: {', '.join(map(str, self.choices))}.")
        return data


class ParsedTextParam(TextField):
    """Text that is read as something else, which is why its length is judged first."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # They would judge what was read, which may have no length.
        self.validators = [
            judge for judge in self.validators if not isinstance(judge, (MaxLengthValidator, MinLengthValidator))
        ]

    def to_internal_value(self, data: Any) -> str:
        """Return the text."""
        if self.max_length and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class ListParam(ParsedTextParam):
    """Several values with commas between them; read as a tuple without repetitions."""

    def __init__(self, *, of: str, **options: Any) -> None:
        self.of = of
        super().__init__(pattern=f"^({of})(,({of}))*$", **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the values."""
        return tuple(dict.fromkeys(super().to_internal_value(data).split(",")))

    def to_representation(self, value: Any) -> str:
        """Return the values as a caller writes them."""
        return ",".join(map(str, value))


def parse_datetime(text: str) -> datetime:
    """A day or a moment of RFC 3339 in UTC, whatever offset it was written with; of a day its beginning.

    Raises ValidationError for what is in no calendar.
    """
    try:
        read = datetime.fromisoformat(re.sub(r"\.([0-9]+)", lambda found: f".{found[1]:0<6}", text))
        return read.astimezone(UTC) if read.tzinfo else read.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise serializers.ValidationError("There is no such moment in the calendar.") from error


class DateTimeParam(ParsedTextParam):
    """A moment of RFC 3339; read as a datetime in UTC."""

    def __init__(self, **options: Any) -> None:
        hint = "This must be a moment like 2026-11-21T19:30:00Z; write the + of an offset as %2B."
        super().__init__(pattern=f"^{DATETIME_PATTERN}$", hint=hint, **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the moment."""
        return parse_datetime(super().to_internal_value(data))


class PageParams(QueryParams):
    """The parameters of a list that is only paged."""

    limit = IntegerParam(required=False, default=20, min_value=1, max_value=50, help_text="Records on a page.")
    cursor = TextField(required=False, max_length=400, help_text="`next_cursor` of the page before; good for an hour.")
