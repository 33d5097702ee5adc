"""The tools as clients read them: texts, arguments and members of results, from declarations.toml."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rest_framework.serializers import Serializer

from catalogue.mcp import paywall
from catalogue.responses import NOTICE
from catalogue.search.text.vocabulary import Vocabulary, fold
from catalogue.serializers.shared import SLUG
from framework.data_files import read_toml
from framework.mcp import schemas
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.mcp.tools import Tool, ToolCall, Values

DECLARATIONS: Mapping[str, Any] = read_toml(Path(__file__).with_suffix(".toml"))


def declare(
    name: str,
    run: Callable[[ToolCall, Values], ToolResult],
    *,
    serializer: type[Serializer[Any]] | None,
    output: Callable[[], Schema] | None = None,
    own_schemas: Mapping[str, Schema] = MappingProxyType({}),
) -> Tool:
    """The tool of this name. `own_schemas` are added to the declared ones, `output` replaces the declared result."""
    words = ("result", "is_paid", "has_own_texts_only")
    entry = {key: value for key, value in DECLARATIONS[name].items() if key not in words}
    return Tool(
        name=name,
        run=run,
        serializer=serializer,
        output=output or partial(result_schema, name),
        alternative_output=paywall.PRICE if "is_paid" in DECLARATIONS[name] else None,
        notice="" if "has_own_texts_only" in DECLARATIONS[name] else NOTICE,
        converters={"market": market_slug},
        **{**entry, "own_schemas": {**entry.get("own_schemas", {}), **own_schemas}},
    )


def market_slug(name: str) -> str:
    """Return the slug of a market of this name, as hits show it; other texts unchanged. At most one query, and none
    for a slug.
    """
    if re.fullmatch(SLUG, name):
        return name
    return Vocabulary.load().markets_by_name.get(fold(name), name)


def result_schema(name: str) -> Schema:
    """The declared result of the tool of this name."""
    result = DECLARATIONS[name]["result"]
    members = {**DECLARATIONS["shared_members"], **result.get("members", {})}
    return schemas.result_schema(result["component"], opaque=result.get("opaque", ()), only=members)
