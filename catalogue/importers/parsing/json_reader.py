"""A strict reader of JSON objects; errors name the field (`reviews[0].stars`)."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Self

from catalogue.importers.row_errors import RowRejected, check_single_line
from framework.errors import unknown_name


class JsonObject:
    """An object whose fields are read by name; null is the same as absent. All methods raise RowRejected."""

    def __init__(self, content: object, *, path: str = "") -> None:
        if not isinstance(content, Mapping):
            raise RowRejected(f"{path}: an object is expected.")
        self.content = content
        self.path = path
        self.read: dict[str, None] = {}

    def has(self, name: str) -> bool:
        self.read[name] = None
        return self.content.get(name) is not None

    def value(self, name: str) -> Any:
        """Return any value, or None."""
        self.read[name] = None
        return self.content.get(name)

    def reject_unread_fields(self) -> None:
        """Reject fields that were not read: most often they are misspelt."""
        for name in self.content:
            if name not in self.read:
                raise RowRejected(
                    unknown_name("field", self._where(name), [self._where(each) for each in self.read]).message
                )

    def text(self, name: str, *, max_length: int, multiline: bool = False) -> str:
        """Return a non-empty, stripped text; one line unless `multiline`."""
        return self._text(name, self._required(name), max_length=max_length, multiline=multiline)

    def optional_text(self, name: str, *, max_length: int, multiline: bool = False) -> str | None:
        return self.text(name, max_length=max_length, multiline=multiline) if self.has(name) else None

    def matching(self, name: str, pattern: str, *, max_length: int) -> str | None:
        text = self.optional_text(name, max_length=max_length)
        if text is not None and not re.fullmatch(pattern, text):
            raise self._error(name, f"{text!r} does not match {pattern}.")
        return text

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        text = self.optional_text(name, max_length=80)
        if text is not None and text not in choices:
            raise self._error(name, f"{text!r} is none of {', '.join(choices)}.")
        return text

    def texts(self, name: str, *, max_length: int) -> list[str]:
        """Return a list of distinct texts; empty if absent."""
        values = self._list(name) or []
        texts = [self._text(f"{name}[{index}]", value, max_length=max_length) for index, value in enumerate(values)]
        return list(dict.fromkeys(texts))

    def integer(self, name: str, minimum: int, maximum: int) -> int:
        return self._integer(name, self._required(name), minimum, maximum)

    def optional_integer(self, name: str, minimum: int, maximum: int) -> int | None:
        return self.integer(name, minimum, maximum) if self.has(name) else None

    def integers(self, name: str, minimum: int, maximum: int) -> tuple[int, ...]:
        """Return a list of at least one integer, sorted and distinct."""
        values = self._list(name)
        if not values:
            raise self._error(name, "at least one is required.")
        numbers = {self._integer(f"{name}[{index}]", value, minimum, maximum) for index, value in enumerate(values)}
        return tuple(sorted(numbers))

    def optional_flag(self, name: str, *, default: bool) -> bool:
        value = self.value(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._error(name, "true or false is expected.")
        return value

    def timestamp(self, name: str) -> datetime:
        """Parse RFC 3339 with a zone."""
        text = self.text(name, max_length=40)
        try:
            parsed = datetime.fromisoformat(text)
        except ValueError:
            raise self._error(name, f"{text!r} is not a timestamp such as 2026-11-21T17:30:00+01:00.") from None
        if parsed.tzinfo is None:
            raise self._error(name, f"{text!r} has no zone.")
        if not 1970 <= parsed.year < 9999:
            raise self._error(name, f"{text!r} is out of range.")
        return parsed

    def optional_date(self, name: str) -> date | None:
        text = self.matching(name, r"\d{4}-\d\d-\d\d", max_length=10)
        try:
            return date.fromisoformat(text) if text else None
        except ValueError:
            raise self._error(name, f"{text!r} is not a date.") from None

    def time_of_day(self, name: str) -> time:
        """Parse "HH:MM"."""
        text = self.text(name, max_length=5)
        if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text, re.ASCII):
            raise self._error(name, f'{text!r} is not a time "HH:MM".')
        return time.fromisoformat(text)

    def child(self, name: str) -> Self:
        return type(self)(self._required(name), path=self._where(name))

    def optional_child(self, name: str) -> Self | None:
        return self.child(name) if self.has(name) else None

    def children(self, name: str) -> list[Self] | None:
        values = self._list(name)
        if values is None:
            return None
        return [type(self)(value, path=self._where(f"{name}[{index}]")) for index, value in enumerate(values)]

    def flag_map(self, name: str) -> dict[str, bool | str]:
        """Return an object of booleans and short texts."""
        nested = self.optional_child(name)
        return {key: nested.flag_or_text(key) for key in nested.content} if nested else {}

    def text_map(self, name: str) -> dict[str, str]:
        """Return an object of short texts."""
        nested = self.optional_child(name)
        return {key: nested.text(key, max_length=200) for key in nested.content} if nested else {}

    def flag_or_text(self, name: str) -> bool | str:
        value = self.value(name)
        return value if isinstance(value, bool) else self.text(name, max_length=40)

    def _required(self, name: str) -> Any:
        if not self.has(name):
            raise self._error(name, "this is required.")
        return self.content[name]

    def _list(self, name: str) -> list[Any] | None:
        value = self.value(name)
        if value is not None and not isinstance(value, list):
            raise self._error(name, "a list is expected.")
        return value

    def _text(self, name: str, value: object, *, max_length: int, multiline: bool = False) -> str:
        if not isinstance(value, str):
            raise self._error(name, "a text is expected.")
        text = value.strip()
        if not text:
            raise self._error(name, "the text is empty.")
        if len(text) > max_length:
            raise self._error(name, f"the text is longer than {max_length} characters.")
        if not multiline:
            check_single_line(self._where(name), text)
        return text

    def _integer(self, name: str, value: object, minimum: int, maximum: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise self._error(name, f"a whole number from {minimum} to {maximum} is expected.")
        return value

    def _where(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def _error(self, name: str, problem: str) -> RowRejected:
        return RowRejected(f"{self._where(name)}: {problem}")
