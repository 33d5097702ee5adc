"""What can be read by its URI, and what a conversation can be begun with."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.http import HttpRequest

# As many as REST suggests: what is completed is free.
MOST_VALUES = 20


@dataclass(frozen=True, slots=True)
class Values:
    """What an argument may be, likeliest first; `has_more` where there are some that were not looked for."""

    found: Sequence[str]
    has_more: bool = False

    @property
    def members(self) -> dict[str, Any]:
        """How they are told: at most twenty, and of how many, where that is known."""
        total = {} if self.has_more else {"total": len(self.found)}
        has_more = self.has_more or len(self.found) > MOST_VALUES
        return {"values": list(self.found[:MOST_VALUES]), **total, "hasMore": has_more}


# The values that begin with what was typed, for an argument of this name beside others that are filled in already.
Complete = Callable[[HttpRequest, str, Mapping[str, str]], Values]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """Something to read: a URI, or with `{name}` in it a family of them. `read` gives the JSON of one."""

    uri: str
    name: str
    title: str
    description: str
    read: Callable[..., bytes]
    # Whether everybody reads the same.
    is_public: bool = False
    completes: Mapping[str, Complete] = field(default_factory=dict)
    mime_type: str = "application/json"

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What its URIs look like."""
        steps = re.split(r"\{(\w+)\}", self.uri)
        return re.compile(
            "".join(f"(?P<{step}>[^/?#]+)" if at % 2 else re.escape(step) for at, step in enumerate(steps))
        )

    @property
    def is_template(self) -> bool:
        """Whether there are many of it."""
        return "{" in self.uri

    @property
    def definition(self) -> dict[str, Any]:
        """How it is listed."""
        return {
            "uriTemplate" if self.is_template else "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
        }


@dataclass(frozen=True, kw_only=True)
class PromptArgument:
    """Something that a prompt is filled in with."""

    name: str
    description: str
    is_required: bool = False
    complete: Complete | None = None


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A message to begin with, which a person chooses; `write` makes it of the arguments."""

    name: str
    title: str
    description: str
    arguments: Sequence[PromptArgument]
    write: Callable[[Mapping[str, str]], str]

    @property
    def definition(self) -> dict[str, Any]:
        """How it is listed."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": [
                {"name": one.name, "description": one.description, "required": one.is_required}
                for one in self.arguments
            ],
        }
