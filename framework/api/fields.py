"""Strict serializer fields: no type conversion, and unknown keys are errors."""

import re
from collections.abc import Mapping
from datetime import date, time
from functools import cache
from itertools import islice
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from framework.errors import unknown_name
from framework.invisible_text import remove_invisible

# All control characters, or all except tab, line feed and carriage return. The OpenAPI document has the patterns, too.
CONTROL = r"\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f"
CONTROL_LINE = r"\u0000-\u001f\u007f"
CLEAN, CLEAN_LINE = f"^[^{CONTROL}]*$", f"^[^{CONTROL_LINE}]*$"
# Unknown keys of one object that the error names.
MAX_UNKNOWN_KEYS = 10


class TextField(serializers.CharField):
    """A JSON string of `min_length` to `max_length` characters, not trimmed, without invisible characters.

    The whole text must match the regular expression `pattern`; `hint` is the error message if it does not. Without
    `allow_blank` white space alone is an error. One line unless `lines`.
    """

    # The format keyword of JSON Schema.
    format: str | None = None
    default_error_messages = {
        "type": "This must be a string.",
        "blank": _("This must not be empty."),
        "null": "This must not be null.",
        "required": "This is required.",
        "max_length": _("This must be at most {max_length} characters long."),
        "min_length": _("This must be at least {min_length} characters long."),
        "control": _("This holds a control character."),
    }

    def __init__(self, *, pattern: str | None = None, hint: str = "", lines: bool = False, **options: Any) -> None:
        self.pattern = pattern
        self.hint = hint
        self.clean, self.control = (CLEAN, CONTROL) if lines else (CLEAN_LINE, CONTROL_LINE)
        super().__init__(trim_whitespace=False, **options)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("type")
        text = remove_invisible(data)
        if not self.allow_blank and not text.strip():
            self.fail("blank")
        if not re.fullmatch(self.clean, text):
            self.fail("control")
        if self.pattern and not re.fullmatch(self.pattern, text, re.ASCII):
            raise serializers.ValidationError(self.hint or f"This must match {self.pattern}.")
        return text


class StrictIntegerField(serializers.IntegerField):
    """A JSON integer: no boolean, no string, no 2.0."""

    default_error_messages = {
        "type": "This must be an integer.",
        "null": "This must not be null.",
        "required": "This is required.",
        "max_value": "This must be at most {max_value}.",
        "min_value": "This must be at least {min_value}.",
    }

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, bool) or not isinstance(data, int):
            self.fail("type")
        return data


class StrictBooleanField(serializers.BooleanField):
    """A JSON boolean: no string, no number."""

    default_error_messages = {"invalid": "This must be true or false."}

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class StrictChoiceField(serializers.ChoiceField):
    """One of the given strings; case matters."""

    default_error_messages = {
        "invalid_choice": "This must be one of the listed values.",
        "null": "This must not be null.",
        "required": "This is required.",
    }

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or data not in self.choices:
            raise serializers.ValidationError(f"This must be one of: {', '.join(map(str, self.choices))}.")
        return data


class MetadataField(serializers.Field[dict[str, str], Any, dict[str, str], Any]):
    """Free key-value pairs of the client: at most 50 keys of 40 characters, with texts of at most 500."""

    KEYS, KEY_LENGTH, TEXT_LENGTH = 50, 40, 500
    default_error_messages = {
        "type": "This must be an object of strings.",
        "keys": "This must have at most {limit} keys.",
        "key": "The key `{name}` must be 1 to {limit} characters long.",
        "text": "The text of `{name}` must be a string of at most {limit} characters.",
        "control": "`{name}` or its text holds a control character.",
        "null": "This must not be null.",
    }

    def to_internal_value(self, data: Any) -> dict[str, str]:
        if not isinstance(data, Mapping):
            self.fail("type")
        if len(data) > self.KEYS:
            self.fail("keys", limit=self.KEYS)
        for key, text in data.items():
            if not 1 <= len(key) <= self.KEY_LENGTH:
                self.fail("key", name=key[: self.KEY_LENGTH], limit=self.KEY_LENGTH)
            if not isinstance(text, str) or len(text) > self.TEXT_LENGTH:
                self.fail("text", name=key, limit=self.TEXT_LENGTH)
            if not re.fullmatch(CLEAN_LINE, key) or not re.fullmatch(CLEAN, text):
                self.fail("control", name=key)
        return {remove_invisible(key): remove_invisible(text) for key, text in data.items()}

    def to_representation(self, value: dict[str, str]) -> dict[str, str]:
        return value


class StrictSerializer(serializers.Serializer[Any]):
    """A JSON object; unknown keys are errors that suggest the most similar known key."""

    default_error_messages = {
        "invalid": "This must be an object.",
        "null": "This must not be null.",
        "required": "This is required.",
    }

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The validated values. Raises ValidationError.

        A new serializer would copy all its fields, which takes half a millisecond.
        """
        return dict(_shared_instance(cls).run_validation(data))

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Return the values. Raises ValidationError with every problem; of unknown keys, with the first ten."""
        if not isinstance(data, Mapping):
            self.fail("invalid")
        problems = self.unknown_keys(data)
        try:
            values: dict[str, Any] = super().to_internal_value(data)
        except serializers.ValidationError as error:
            raise serializers.ValidationError({**problems, **dict(error.detail)}) from error  # type: ignore[arg-type]
        if problems:
            raise serializers.ValidationError(problems)
        return values

    def unknown_keys(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The errors of unknown keys."""
        known = [str(field.field_name) for field in self._writable_fields]
        # Each is compared with all known keys, and a body may have a hundred thousand.
        unknown = islice((name for name in data if name not in known), MAX_UNKNOWN_KEYS)
        return {str(name)[:80]: [unknown_name("field", str(name)[:80], known).message] for name in unknown}

    def run_validators(self, value: Any) -> None:
        """There are none: our serializers validate several fields together in `validate`."""


@cache
def _shared_instance(serializer_class: type[StrictSerializer]) -> StrictSerializer:
    """The instance that all threads validate with, which stores nothing in it."""
    serializer = serializer_class()
    # Bind the fields now: two threads must not do so concurrently.
    serializer.fields  # noqa: B018
    return serializer


class StrictListField(serializers.ListField):
    """A JSON array with `min_length` to `max_length` elements."""

    default_error_messages = {
        "not_a_list": "This must be an array.",
        "null": "This must not be null.",
        "required": "This is required.",
        "min_length": "This must have at least {min_length} element.",
        "max_length": "This must have at most {max_length} elements.",
    }

    def to_internal_value(self, data: Any) -> Any:
        """Check the length first: validating a body full of empty objects would take minutes."""
        if isinstance(data, list) and self.max_length is not None and len(data) > self.max_length:
            self.fail("max_length", max_length=self.max_length)
        return super().to_internal_value(data)


class DateField(TextField):
    """A calendar date, YYYY-MM-DD in ASCII digits, parsed to datetime.date."""

    format = "date"

    def __init__(self, **options: Any) -> None:
        super().__init__(pattern=r"^\d{4}-\d{2}-\d{2}$", hint="This must be a date written YYYY-MM-DD.", **options)

    def to_internal_value(self, data: Any) -> Any:
        text = super().to_internal_value(data)
        try:
            return date.fromisoformat(text)
        except ValueError as error:
            raise serializers.ValidationError("There is no such day in the calendar.") from error


class TimeField(TextField):
    """A time of day, HH:MM on a 24-hour clock in ASCII digits, parsed to datetime.time."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            pattern=r"^([01]\d|2[0-3]):[0-5]\d$", hint="This must be a time written HH:MM, 00:00 to 23:59.", **options
        )

    def to_internal_value(self, data: Any) -> Any:
        return time.fromisoformat(super().to_internal_value(data))

    def to_representation(self, value: Any) -> str:
        return f"{value:%H:%M}"


class EmailField(TextField):
    """An email address that every mail server accepts: only the domain may have non-ASCII letters."""

    format = "email"

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=254, **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        name, _at, domain = text.rpartition("@")
        try:
            validate_email(text)
            # Mail servers get the domain in IDNA, where labels grow, and where some letters become others, such as
            # another @.
            validate_email(f"{name}@{domain.encode('idna').decode()}")
        except (ValidationError, UnicodeError) as error:
            raise serializers.ValidationError(_("This must be an email address.")) from error
        if not name.isascii():
            raise serializers.ValidationError("What stands before the @ must be ASCII; not all servers take others.")
        return text


class PhoneField(TextField):
    """A phone number in international form; spaces, dashes, dots and parentheses are removed.

    Only the form is checked: a list of real numbers would reject +15551234567, a typical number of test data.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=40, **options)

    def to_internal_value(self, data: Any) -> str:
        number = re.sub(r"[ ().-]", "", super().to_internal_value(data))
        if not re.fullmatch(r"\+[1-9]\d{6,14}", number, re.ASCII):
            raise serializers.ValidationError(
                "This must be a phone number in international form with a leading plus: +15550100999."
            )
        return number


class PublicIdField(serializers.Field[Any, Any, str, Any]):
    """The row's `public_id`: the prefix and 26 characters (framework.public_ids)."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        super().__init__(source="public_id", read_only=True)

    def to_representation(self, value: str) -> str:
        return value


class ConstantField(serializers.Field[Any, Any, str, Any]):
    """A constant: the type of the object."""

    def __init__(self, value: str) -> None:
        self.value = value
        super().__init__(source="*", read_only=True)

    def to_representation(self, value: Any) -> str:
        return self.value
