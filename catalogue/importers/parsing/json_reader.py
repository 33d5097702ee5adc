"""A reader of JSON objects; errors name the field (`reviews[0].stars`)."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Any, Self, TypeVar

from catalogue.importers.row_errors import RowRejected, check_single_line
from framework.errors import unknown_name

T = TypeVar("T")
D = TypeVar("D")


class JsonObject:
    """An object whose fields are read by name; null and an empty text are the same as absent.

    The methods that read a value raise RowRejected. `attempt` collects what they raise in `problems`, which an object
    shares with those inside it.
    """

    def __init__(self, content: object, *, path: str = "", problems: list[str] | None = None) -> None:
        if not isinstance(content, Mapping):
            raise RowRejected(f"{path}: an object is expected.")
        self.content = content
        self.path = path
        self.read: dict[str, None] = {}
        self.problems: list[str] = [] if problems is None else problems

    def attempt(self, read: Callable[[], T], default: D) -> T | D:
        """Return what `read` returns. If it raises RowRejected, collect the reasons and return the default."""
        try:
            return read()
        except RowRejected as error:
            self.problems.extend(error.reasons)
            return default

    def has(self, name: str) -> bool:
        self.read[name] = None
        value = self.content.get(name)
        return value is not None and not (isinstance(value, str) and not value.strip())

    def value(self, name: str) -> Any:
        """Return any value, or None."""
        self.read[name] = None
        return self.content.get(name)

    def report_unread_fields(self, *, ignored: Collection[str] = ()) -> None:
        """Collect fields that were not read: most often they are misspelt."""
        for name in self.content:
            if name not in self.read and name not in ignored:
                known = [self._where(each) for each in self.read]
                self.problems.append(unknown_name("field", self._where(str(name)[:80]), known).message)

    def text(self, name: str, *, max_length: int, multiline: bool = False) -> str:
        """Return a non-empty, stripped text; one line unless `multiline`."""
        return self._text(name, self._required(name), max_length=max_length, multiline=multiline)

    def optional_text(self, name: str, *, max_length: int, multiline: bool = False) -> str | None:
        return self.text(name, max_length=max_length, multiline=multiline) if self.has(name) else None

    def identifier(self, name: str, *, max_length: int) -> str:
        """Return a text; a whole number is one too."""
        value = self._required(name)
        is_integer = isinstance(value, int) and not isinstance(value, bool)
        return self._text(name, str(value) if is_integer else value, max_length=max_length)

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        text = self.optional_text(name, max_length=80)
        if text is not None and text not in choices:
            raise self._error(name, f"{text!r} is none of {', '.join(choices)}.")
        return text

    def texts(self, name: str, *, max_length: int) -> list[str]:
        """Return a list of distinct texts, without invalid ones, which are collected; empty if absent."""
        values = enumerate(self._list(name) or [])
        texts = [
            self.attempt(partial(self._text, f"{name}[{index}]", value, max_length=max_length), None)
            for index, value in values
        ]
        return [text for text in dict.fromkeys(texts) if text is not None]

    def tenths(self, name: str, minimum: int, maximum: int) -> Decimal:
        """Return a number with at most one decimal place."""
        value = self._required(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and minimum <= value <= maximum:
            number = Decimal(str(value))
            if number == round(number, 1):
                return round(number, 1)
        raise self._error(name, f"a number from {minimum} to {maximum} with at most one decimal place is expected.")

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
        text = self.optional_text(name, max_length=10)
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
        return type(self)(self._required(name), path=self._where(name), problems=self.problems)

    def optional_child(self, name: str) -> Self | None:
        return self.child(name) if self.has(name) else None

    def children(self, name: str) -> list[Self] | None:
        values = self._list(name)
        if values is None:
            return None
        children = [
            self.attempt(
                partial(type(self), value, path=self._where(f"{name}[{index}]"), problems=self.problems), None
            )
            for index, value in enumerate(values)
        ]
        return [child for child in children if child is not None]

    def flag_map(self, name: str) -> dict[str, bool | str]:
        """Return an object of booleans and short texts, without invalid ones, which are collected."""
        nested = self.optional_child(name)
        values = (
            {key: nested.attempt(partial(nested.flag_or_text, key), None) for key in nested.content} if nested else {}
        )
        return {key: value for key, value in values.items() if value is not None}

    def text_map(self, name: str) -> dict[str, str]:
        """Return an object of short texts, without invalid ones, which are collected."""
        nested = self.optional_child(name)
        values = (
            {key: nested.attempt(partial(nested.identifier, key, max_length=200), None) for key in nested.content}
            if nested
            else {}
        )
        return {key: value for key, value in values.items() if value is not None}

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
