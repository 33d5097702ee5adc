"""A strict reader of JSON objects: what it refuses, it names by its field (`reviews[0].stars`)."""

import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, Self

from catalogue.importers.row_errors import RejectedError, check_line
from framework.errors import unknown_name


class Form:
    """One object, whose fields are asked for by name. null is the same as absent. All raise RejectedError."""

    def __init__(self, content: object, *, path: str = "") -> None:
        if not isinstance(content, Mapping):
            raise RejectedError(f"{path}: an object is expected.")
        self.content = content
        self.path = path
        self.asked: dict[str, None] = {}

    def has(self, name: str) -> bool:
        self.asked[name] = None
        return self.content.get(name) is not None

    def value(self, name: str) -> Any:
        """Whatever stands there, or None."""
        self.asked[name] = None
        return self.content.get(name)

    def finish(self) -> None:
        """Refuse what nobody asked for: most often it is misspelt."""
        for name in self.content:
            if name not in self.asked:
                raise RejectedError(
                    unknown_name("field", self._where(name), [self._where(each) for each in self.asked]).message
                )

    def text(self, name: str, *, longest: int, lines: bool = False) -> str:
        """A text that says something, without the spaces around it; one line unless `lines`."""
        if not self.has(name):
            raise self._error(name, "this is required.")
        return self._text(name, self.content[name], longest=longest, lines=lines)

    def optional_text(self, name: str, *, longest: int, lines: bool = False) -> str | None:
        return self.text(name, longest=longest, lines=lines) if self.has(name) else None

    def matching(self, name: str, pattern: str, *, longest: int) -> str | None:
        text = self.optional_text(name, longest=longest)
        if text is not None and not re.fullmatch(pattern, text):
            raise self._error(name, f"{text!r} does not match {pattern}.")
        return text

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        text = self.optional_text(name, longest=80)
        if text is not None and text not in choices:
            raise self._error(name, f"{text!r} is none of {', '.join(choices)}.")
        return text

    def texts(self, name: str, *, longest: int) -> list[str]:
        """A list of texts, each once; none given is an empty list."""
        values = self._list(name) or []
        texts = [self._text(f"{name}[{index}]", value, longest=longest) for index, value in enumerate(values)]
        return list(dict.fromkeys(texts))

    def integer(self, name: str, least: int, most: int) -> int:
        if not self.has(name):
            raise self._error(name, "this is required.")
        return self._integer(name, self.content[name], least, most)

    def optional_integer(self, name: str, least: int, most: int) -> int | None:
        return self.integer(name, least, most) if self.has(name) else None

    def integers(self, name: str, least: int, most: int) -> tuple[int, ...]:
        """A list of at least one integer, sorted, each once."""
        values = self._list(name)
        if not values:
            raise self._error(name, "at least one is required.")
        numbers = {self._integer(f"{name}[{index}]", value, least, most) for index, value in enumerate(values)}
        return tuple(sorted(numbers))

    def optional_flag(self, name: str, *, default: bool) -> bool:
        value = self.value(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._error(name, "true or false is expected.")
        return value

    def moment(self, name: str) -> datetime:
        """RFC 3339 with its zone."""
        text = self.text(name, longest=40)
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise self._error(name, f"{text!r} is not a moment such as 2026-11-21T17:30:00+01:00.") from None
        if moment.tzinfo is None:
            raise self._error(name, f"{text!r} has no zone.")
        if not 1970 <= moment.year < 9999:
            raise self._error(name, f"{text!r} is not of our time.")
        return moment

    def optional_day(self, name: str) -> date | None:
        text = self.matching(name, r"\d{4}-\d\d-\d\d", longest=10)
        try:
            return date.fromisoformat(text) if text else None
        except ValueError:
            raise self._error(name, f"{text!r} is not a day.") from None

    def clock(self, name: str) -> time:
        """ "HH:MM" on the wall."""
        text = self.text(name, longest=5)
        if not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", text, re.ASCII):
            raise self._error(name, f'{text!r} is not a time "HH:MM".')
        return time.fromisoformat(text)

    def form(self, name: str) -> Self:
        if not self.has(name):
            raise self._error(name, "this is required.")
        return type(self)(self.content[name], path=self._where(name))

    def optional_form(self, name: str) -> Self | None:
        return self.form(name) if self.has(name) else None

    def forms(self, name: str) -> list[Self] | None:
        values = self._list(name)
        if values is None:
            return None
        return [type(self)(value, path=self._where(f"{name}[{index}]")) for index, value in enumerate(values)]

    def flags(self, name: str) -> dict[str, bool | str]:
        """An object of true, false and short texts."""
        inside = self.optional_form(name)
        return {key: inside.flag_or_text(key) for key in inside.content} if inside else {}

    def words(self, name: str) -> dict[str, str]:
        """An object of short texts."""
        inside = self.optional_form(name)
        return {key: inside.text(key, longest=200) for key in inside.content} if inside else {}

    def flag_or_text(self, name: str) -> bool | str:
        value = self.value(name)
        return value if isinstance(value, bool) else self.text(name, longest=40)

    def _list(self, name: str) -> list[Any] | None:
        value = self.value(name)
        if value is not None and not isinstance(value, list):
            raise self._error(name, "a list is expected.")
        return value

    def _text(self, name: str, value: object, *, longest: int, lines: bool = False) -> str:
        if not isinstance(value, str):
            raise self._error(name, "a text is expected.")
        text = value.strip()
        if not text:
            raise self._error(name, "the text is empty.")
        if len(text) > longest:
            raise self._error(name, f"the text is longer than {longest} characters.")
        if not lines:
            check_line(self._where(name), text)
        return text

    def _integer(self, name: str, value: object, least: int, most: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self._error(name, f"a whole number from {least} to {most} is expected.")
        return value

    def _where(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def _error(self, name: str, problem: str) -> RejectedError:
        return RejectedError(f"{self._where(name)}: {problem}")
