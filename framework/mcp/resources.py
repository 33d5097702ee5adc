"""Resources, prompts, and the completion of their arguments."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.http import HttpRequest

# As many as REST suggests.
MAX_COMPLETIONS = 20


@dataclass(frozen=True, slots=True)
class Completions:
    """Possible values of an argument, most likely first. `has_more` if more exist than these."""

    values: Sequence[str]
    has_more: bool = False

    def to_json(self) -> dict[str, Any]:
        """The result member `completion`, with the total if it is known."""
        total = {} if self.has_more else {"total": len(self.values)}
        has_more = self.has_more or len(self.values) > MAX_COMPLETIONS
        return {"values": list(self.values[:MAX_COMPLETIONS]), **total, "hasMore": has_more}


# Complete an argument from its beginning and the values of the other arguments.
Completer = Callable[[HttpRequest, str, Mapping[str, str]], Completions]


@dataclass(frozen=True, kw_only=True)
class Resource:
    """A resource, or with `{name}` in its URI a resource template. `read` returns its text, JSON by default.

    `meta` is the `_meta` of its content.
    """

    uri: str
    name: str
    title: str
    description: str
    read: Callable[..., bytes]
    # Whether the content is the same for all callers.
    is_public: bool = False
    completers: Mapping[str, Completer] = field(default_factory=dict)
    mime_type: str = "application/json"
    meta: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)\}", self.uri)
        return re.compile(
            "".join(f"(?P<{part}>[^/?#]+)" if index % 2 else re.escape(part) for index, part in enumerate(parts))
        )

    @property
    def is_template(self) -> bool:
        return "{" in self.uri

    @property
    def definition(self) -> dict[str, Any]:
        return {
            "uriTemplate" if self.is_template else "uri": self.uri,
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
        }


@dataclass(frozen=True, kw_only=True)
class PromptArgument:
    name: str
    description: str
    is_required: bool = False
    complete: Completer | None = None


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A prompt that a user can choose; `render` writes its message from the arguments."""

    name: str
    title: str
    description: str
    arguments: Sequence[PromptArgument]
    render: Callable[[Mapping[str, str]], str]

    @property
    def definition(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "arguments": [
                {"name": argument.name, "description": argument.description, "required": argument.is_required}
                for argument in self.arguments
            ],
        }
