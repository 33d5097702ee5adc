"""Strict serializer fields: a type is what JSON says it is, and a name that is not known is refused."""

import re
from collections.abc import Mapping
from datetime import date, time
from functools import cache, cached_property
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from rest_framework import serializers
from rest_framework.fields import SkipField, empty

from framework.errors import unknown_name

# Control characters, all or but tab, line feed and carriage return. The patterns stand in the OpenAPI document too.
UNCLEAN = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f"
UNCLEAN_LINE = r"\u0000-\u001f\u007f"
CLEAN, CLEAN_LINE = f"^[^{UNCLEAN}]*$", f"^[^{UNCLEAN_LINE}]*$"
# What DRF refuses besides, in any text.
SURROGATES = r"\ud800-\udfff"
# So many unknown keys of one object are told by name.
MAX_UNKNOWN_KEYS = 10


class TextField(serializers.CharField):
    """A JSON string of `min_length` to `max_length` characters, kept as it was sent.

    `pattern` is a regular expression that the whole text must match; `hint` says in words what it asks for. Text that
    may not be empty may not be blank either. One line unless `lines`.
    """

    # The format keyword of JSON Schema, where one says more than the pattern.
    format: str | None = None
    default_error_messages = {
        "type": "This must be a string.",
        "blank": "This must not be empty.",
        "null": "This must not be null.",
        "required": "This is required.",
        "max_length": "This must be at most {max_length} characters long.",
        "min_length": "This must be at least {min_length} characters long.",
        "control": "This holds a control character.",
    }

    def __init__(self, *, pattern: str | None = None, hint: str = "", lines: bool = False, **options: Any) -> None:
        self.pattern = pattern
        self.hint = hint
        self.clean, self.unclean = (CLEAN, UNCLEAN) if lines else (CLEAN_LINE, UNCLEAN_LINE)
        self.is_kept = type(self).to_internal_value is TextField.to_internal_value
        super().__init__(trim_whitespace=False, **options)

    @cached_property
    def right(self) -> re.Pattern[str]:
        """What a text matches that is neither too long nor too short nor unclean."""
        most = "" if self.max_length is None else self.max_length
        return re.compile(f"[^{self.unclean}{SURROGATES}]{{{self.min_length or 0},{most}}}")

    def run_validation(self, data: Any = empty) -> Any:
        """The value. Most texts are kept as they are; what is wrong with any other DRF finds out, in a dozen calls."""
        if (
            self.is_kept
            and type(data) is str
            and self.right.fullmatch(data)
            and (data.strip() or self.allow_blank)
            and (not self.pattern or re.fullmatch(self.pattern, data, re.ASCII))
        ):
            return data
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        """Return the text."""
        if not isinstance(data, str):
            self.fail("type")
        if not self.allow_blank and not data.strip():
            self.fail("blank")
        if not re.fullmatch(self.clean, data):
            self.fail("control")
        if self.pattern and not re.fullmatch(self.pattern, data, re.ASCII):
            raise serializers.ValidationError(self.hint or f"This must match {self.pattern}.")
        return data


class StrictIntegerField(serializers.IntegerField):
    """A JSON integer: no boolean, no string, no 2.0."""

    default_error_messages = {
        "type": "This must be an integer.",
        "null": "This must not be null.",
        "required": "This is required.",
        "max_value": "This must be at most {max_value}.",
        "min_value": "This must be at least {min_value}.",
    }

    def run_validation(self, data: Any = empty) -> Any:
        """The number; see Text."""
        if (
            type(data) is int
            and (self.min_value is None or data >= self.min_value)
            and (self.max_value is None or data <= self.max_value)
        ):
            return data
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> int:
        """Return the number."""
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("type")
        return data


class StrictChoiceField(serializers.ChoiceField):
    """One of the given strings, in this very case."""

    default_error_messages = {
        "invalid_choice": "This must be one of the listed values.",
        "null": "This must not be null.",
        "required": "This is required.",
    }

    def to_internal_value(self, data: Any) -> str:
        """Return the value."""
        if not isinstance(data, str) or data not in self.choices:
            raise serializers.ValidationError(f"This must be one of: {', '.join(map(str, self.choices))}.")
        return data


class MetadataField(serializers.Field[dict[str, str], Any, dict[str, str], Any]):
    """The caller's own notes on a record: at most 50 keys of 40 characters, with texts of at most 500."""

    KEYS, KEY_LENGTH, TEXT_LENGTH = 50, 40, 500
    default_error_messages = {
        "type": "This must be an object of strings.",
        "keys": "This must have at most {most} keys.",
        "key": "The key `{name}` must be 1 to {most} characters long.",
        "text": "The text of `{name}` must be a string of at most {most} characters.",
        "control": "`{name}` or its text holds a control character.",
        "null": "This must not be null.",
    }

    def to_internal_value(self, data: Any) -> dict[str, str]:
        """Return the object."""
        if not isinstance(data, Mapping):
            self.fail("type")
        if len(data) > self.KEYS:
            self.fail("keys", most=self.KEYS)
        for key, text in data.items():
            if not 1 <= len(key) <= self.KEY_LENGTH:
                self.fail("key", name=key[: self.KEY_LENGTH], most=self.KEY_LENGTH)
            if not isinstance(text, str) or len(text) > self.TEXT_LENGTH:
                self.fail("text", name=key, most=self.TEXT_LENGTH)
            if not re.fullmatch(CLEAN_LINE, key) or not re.fullmatch(CLEAN, text):
                self.fail("control", name=key)
        return dict(data)

    def to_representation(self, value: dict[str, str]) -> dict[str, str]:
        """Return the object."""
        return value


class StrictSerializer(serializers.Serializer[Any]):
    """A JSON object whose keys are all known; others are refused with the nearest known one."""

    default_error_messages = {
        "invalid": "This must be an object.",
        "null": "This must not be null.",
        "required": "This is required.",
    }

    @classmethod
    def read(cls, told: Mapping[str, Any]) -> dict[str, Any]:
        """The values of what a caller has told. Raises ValidationError.

        `is_valid` of a serializer that is made for it says the same; making one copies all its fields each time.
        """
        return dict(_made(cls).run_validation(told))

    @cached_property
    def parts(self) -> list[tuple[str, serializers.Field[Any, Any, Any, Any], Any]]:
        """The name of each field that is read, the field, and what judges its value."""
        return [
            (str(field.field_name), field, getattr(self, f"validate_{field.field_name}", None))
            for field in self._writable_fields
        ]

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the values. Raises ValidationError with every problem, beginning with ten of the unknown keys.

        DRF's own looks for all of this anew at each reading.
        """
        if not isinstance(data, Mapping):
            self.fail("invalid")
        values: dict[str, Any] = {}
        problems = self.strangers(data)
        for name, field, judge in self.parts:
            try:
                value = field.run_validation(data.get(name, empty))
                # A name with a point in it stands for a value within another (catalogue.mcp.tools.exports).
                self.set_value(values, field.source_attrs, judge(value) if judge else value)
            except SkipField:
                continue
            except serializers.ValidationError as error:
                problems[name] = error.detail
        if problems:
            raise serializers.ValidationError(problems)
        return values

    def strangers(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What there is to say of keys that are not known."""
        known = [name for name, _, _ in self.parts]
        # Each is compared with all known ones, and a body may hold a hundred thousand.
        found = islice((name for name in data if name not in known), MAX_UNKNOWN_KEYS)
        return {str(name)[:80]: [unknown_name("field", str(name)[:80], known).message] for name in found}

    def run_validators(self, value: Any) -> None:
        """Nothing: what concerns more than one field `validate` judges."""


@cache
def _made(shape: type[StrictSerializer]) -> StrictSerializer:
    """The one serializer of a shape by which all threads read: reading keeps nothing in it."""
    made = shape()
    # Bound now, not by the first two threads at once.
    made.fields  # noqa: B018  # the look-up binds them
    return made


class StrictListField(serializers.ListField):
    """A JSON array of one shape, with `min_length` to `max_length` elements."""

    default_error_messages = {
        "not_a_list": "This must be an array.",
        "null": "This must not be null.",
        "required": "This is required.",
        "min_length": "This must have at least {min_length} element.",
        "max_length": "This must have at most {max_length} elements.",
    }

    def to_internal_value(self, data: Any) -> Any:
        """Return the values. Refuses too many before it reads any, lest a body of empty objects costs minutes."""
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class DateField(TextField):
    """A calendar day, YYYY-MM-DD in ASCII digits; read as datetime.date."""

    format = "date"

    def __init__(self, **options: Any) -> None:
        super().__init__(pattern=r"^\d{4}-\d{2}-\d{2}$", hint="This must be a date written YYYY-MM-DD.", **options)

    def to_internal_value(self, data: Any) -> Any:
        """Return the day."""
        text = super().to_internal_value(data)
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise serializers.ValidationError("There is no such day in the calendar.") from error


class TimeField(TextField):
    """A time of day, HH:MM on a 24-hour clock in ASCII digits; read as datetime.time."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=r"^([01]\d|2[0-3]):[0-5]\d$", hint="This must be a time written HH:MM, 00:00 to 23:59.", **options
        )

    def to_internal_value(self, data: Any) -> Any:
        """Return the time."""
        return time.fromisoformat(super().to_internal_value(data))

    def to_representation(self, value: Any) -> str:
        """Return HH:MM."""
        return f"{value:%H:%M}"


class EmailField(TextField):
    """An email address that every mail server takes: letters beyond ASCII are for its domain alone."""

    format = "email"

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=254, **options)

    def to_internal_value(self, data: Any) -> str:
        """Return the address as it was written."""
        text = super().to_internal_value(data)
        name, _, domain = text.rpartition("@")
        try:
            validate_email(text)
            # What mail servers are told: a domain of other letters in IDNA, where its labels grow, and where some
            # letters become others, such as another @.
            validate_email(f"{name}@{domain.encode('idna').decode()}")
        except (ValidationError, UnicodeError) as error:
            raise serializers.ValidationError("This must be an email address.") from error
        if not name.isascii():
            raise serializers.ValidationError("What stands before the @ must be ASCII; not all servers take others.")
        return text


class PhoneField(TextField):
    """A phone number in international form, without the spaces, dashes, dots and parentheses that people write.

    Judged by its form alone: a list of real numbers would refuse +15551234567, which is what test data looks like.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=40, **options)

    def to_internal_value(self, data: Any) -> str:
        """Return `+` and 7 to 15 digits."""
        number = re.sub(r"[ ().-]", "", super().to_internal_value(data))
        if not re.fullmatch(r"\+[1-9]\d{6,14}", number, re.ASCII):
            raise serializers.ValidationError(
                "This must be a phone number in international form with a leading plus: +15550100999."
            )
        return number


class PublicIdField(serializers.Field[Any, Any, str, Any]):
    """The row's `public_id`: the prefix and 26 letters (framework.public_ids)."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        super().__init__(source="public_id", read_only=True)

    def to_representation(self, value: str) -> str:
        """Return the id."""
        return value


class ConstantField(serializers.Field[Any, Any, str, Any]):
    """The same word in each record: what kind of object it is."""

    def __init__(self, word: str) -> None:
        self.word = word
        super().__init__(source="*", read_only=True)

    def to_representation(self, value: Any) -> str:
        """Return the word."""
        return self.word
