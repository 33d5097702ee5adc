"""Declared query parameters: a serializer per query string, and the fields that several share."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

from django.core.validators import MaxLengthValidator, MinLengthValidator
from rest_framework import serializers
from rest_framework.fields import SkipField, empty
from rest_framework.request import Request

from framework.api.error_handler import invalid_request
from framework.api.fields import TextField
from framework.api.query_params import parser
from framework.errors import Problem

TIME_PATTERN = r"([01][0-9]|2[0-3]):[0-5][0-9]"
# RFC 3339, section 5.6, without leap seconds.
DATE_PATTERN = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
DATETIME_PATTERN = rf"{DATE_PATTERN}T{TIME_PATTERN}:[0-5][0-9](\.[0-9]{{1,6}})?(Z|[+-]{TIME_PATTERN})"


# Longer query strings are not cached.
MAX_CACHED_LENGTH = 40
# For each field: its name, the bound field, its `validate_<name>` method, and whether it runs for an absent parameter,
# because it has a default or is required.
Readers = tuple[tuple[str, Any, Callable[[Any, Any], Any] | None, bool], ...]


class QueryParams(serializers.Serializer[Any]):
    """The parameters of a query string; unknown, repeated and empty ones are errors.

    Fields are bound once per class, because parsing does not change them: a serializer would copy them per request.
    """

    @classmethod
    def read(cls, request: Request) -> dict[str, Any]:
        """The values that are present or have a default. Raises InvalidRequest and ValidationError."""
        query_string = request.META.get("QUERY_STRING", "")
        # Short query strings recur. Fields that look up rows depend on more than the query string.
        is_cacheable = len(query_string) <= MAX_CACHED_LENGTH and not _looks_up_rows(cls)
        return dict(_parse_cached(cls, query_string)) if is_cacheable else cls.parse(query_string)

    @classmethod
    def parse(cls, query_string: str) -> dict[str, Any]:
        """The values of this query string. Raises InvalidRequest and ValidationError."""
        params = parser.parse_query_string(query_string, _names(cls))
        # Creating a DRF field or serializer increments a class attribute of Field, which invalidates Python's method
        # caches of all fields. This instance is created without __init__.
        form = object.__new__(cls)
        vars(form).update(vars(_form(cls)), initial_data=params)
        values: dict[str, Any] = form.run_validation(params)
        return values

    def to_internal_value(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The values by name. Raises ValidationError with all problems.

        As in Serializer, but absent optional fields are skipped.
        """
        values: dict[str, Any] = {}
        problems: dict[str, Any] = {}
        for name, field, validate, runs_if_absent in _readers(type(self)):
            raw = data.get(name, empty)
            if raw is empty and not runs_if_absent:
                continue
            try:
                value = field.run_validation(raw)
                values[name] = value if validate is None else validate(self, value)
            except serializers.ValidationError as error:
                problems[name] = error.detail
            except SkipField:
                pass
        if problems:
            raise serializers.ValidationError(problems)
        return values

    def run_validators(self, value: dict[str, Any]) -> None:
        """There are none: `validate` checks fields together."""


@cache
def _form(parameters: type[QueryParams]) -> QueryParams:
    return parameters(data={})


@cache
def _looks_up_rows(parameters: type[QueryParams]) -> bool:
    """Whether a field queries the database, which it declares with `looks_up`."""
    return any(getattr(field, "looks_up", False) for _, field, *_ in _readers(parameters))


@lru_cache(maxsize=1024)
def _parse_cached(parameters: type[QueryParams], query_string: str) -> Mapping[str, Any]:
    """The values of this query string: no field depends on the clock."""
    return parameters.parse(query_string)


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
    """A whole number in ASCII digits, with `min_value` and `max_value`."""

    def to_internal_value(self, data: Any) -> int:
        min_value, max_value = self.min_value or 0, self.max_value or 0
        if not re.fullmatch("[0-9]{1,15}", data) or not min_value <= int(data) <= max_value:
            raise serializers.ValidationError(f"This must be a whole number from {min_value} to {max_value}.")
        return int(data)


class ChoiceParam(serializers.ChoiceField):
    def to_internal_value(self, data: Any) -> Any:
        if data not in self.choices:
            raise serializers.ValidationError(f"This must be one of: {', '.join(map(str, self.choices))}.")
        return data


class ParsedTextParam(TextField):
    """Text that is parsed to another type, so its length is checked first."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # They would check the parsed value, which may have no length.
        self.validators = [
            validator
            for validator in self.validators
            if not isinstance(validator, (MaxLengthValidator, MinLengthValidator))
        ]

    def to_internal_value(self, data: Any) -> str:
        if self.max_length and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class ListParam(ParsedTextParam):
    """Comma-separated values, parsed to a tuple without duplicates. `of` is the regular expression of a value."""

    def __init__(self, *, of: str, **options: Any) -> None:
        self.of = of
        super().__init__(pattern=f"^({of})(,({of}))*$", **options)

    def to_internal_value(self, data: Any) -> Any:
        return tuple(dict.fromkeys(super().to_internal_value(data).split(",")))

    def to_representation(self, value: Any) -> str:
        return ",".join(map(str, value))


def parse_datetime(text: str) -> datetime:
    """The datetime in UTC of RFC 3339 text with any offset; for a date, its start. Raises ValidationError."""
    try:
        value = datetime.fromisoformat(re.sub(r"\.([0-9]+)", lambda match: f".{match[1]:0<6}", text))
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise serializers.ValidationError("There is no such moment in the calendar.") from error


class DateTimeParam(ParsedTextParam):
    """A datetime in RFC 3339 format, parsed to UTC."""

    def __init__(self, **options: Any) -> None:
        hint = "This must be a moment like 2026-11-21T19:30:00Z; write the + of an offset as %2B."
        super().__init__(pattern=f"^{DATETIME_PATTERN}$", hint=hint, **options)

    def to_internal_value(self, data: Any) -> Any:
        return parse_datetime(super().to_internal_value(data))


def parse_by_field(params: Mapping[str, str], name: str, field: TextField) -> Any:
    """The value of a parameter as the field reads it; None if it is absent. Raises InvalidRequest."""
    if name not in params:
        return None
    try:
        return field.run_validation(params[name])
    except serializers.ValidationError as error:
        raise invalid_request([Problem(name, str(message)) for message in error.detail]) from error


class PageParams(QueryParams):
    """The parameters of a list without filters."""

    limit = IntegerParam(required=False, default=20, min_value=1, max_value=50, help_text="Records on a page.")
    cursor = TextField(required=False, max_length=400, help_text="`next_cursor` of the page before; good for an hour.")
