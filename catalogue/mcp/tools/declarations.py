"""The tools as clients read them: texts, arguments and members of results, from declarations.toml."""

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rest_framework.serializers import Serializer

from catalogue.mcp import apps, paywall
from catalogue.mcp.pricing import tool_pricing
from catalogue.responses import NOTICE
from catalogue.search.text.vocabulary import DIET, Vocabulary, fold
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
    declared = DECLARATIONS[name]
    words = (
        *("result", "products", "unit", "takes_deposit", "has_view", "has_own_texts_only"),
        *("is_read_only", "is_idempotent"),
    )
    entry = {key: value for key, value in declared.items() if key not in words}
    products = declared.get("products", ())
    return Tool(
        name=name,
        run=run,
        serializer=serializer,
        output=output or partial(result_schema, name),
        alternative_output=paywall.PRICE if products or "takes_deposit" in declared else None,
        notice="" if "has_own_texts_only" in declared else NOTICE,
        pricing=partial(tool_pricing, products, declared["unit"]) if products else None,
        # A client must not pay without asking, nor again for a repeated call.
        is_read_only=not products and declared.get("is_read_only", True),
        is_idempotent=not products and declared.get("is_idempotent", True),
        # A price is shown in the view, too.
        meta=apps.TOOL_META if products or "has_view" in declared else {},
        converters=CONVERTERS,
        hints=HINTS,
        **{**entry, "own_schemas": {**entry.get("own_schemas", {}), **own_schemas}},
    )


def market_slug(name: str) -> str:
    """Return the slug of a market of this name, as hits show it; other texts unchanged. At most one query, and none
    for a slug.
    """
    if re.fullmatch(SLUG, name):
        return name
    return Vocabulary.load().markets_by_name.get(fold(name), name)


def cuisine_slug(name: str) -> str:
    """Return the slug of the one cuisine of this name in any language; other texts unchanged. At most one query."""
    if re.fullmatch(SLUG, name):
        return name
    slugs = Vocabulary.load().cuisines_by_term.get(fold(name), frozenset())
    return next(iter(slugs)) if len(slugs) == 1 else name


def attribute_key(name: str) -> str:
    """Return the key of the attribute with this label or key, with its degree; other texts unchanged."""
    word, colon, degree = name.partition(":")
    vocabulary = Vocabulary.load()
    key = word if word in vocabulary.attributes else vocabulary.attributes_by_term.get(fold(word))
    return f"{key}{colon}{degree.strip()}" if key else name


def diet_key(name: str) -> str:
    """Return the diet with this label or key, with its degree; other texts unchanged."""
    word, colon, degree = name.partition(":")
    vocabulary = Vocabulary.load()
    key = word if word in vocabulary.diets else vocabulary.diets_by_term.get(fold(word.removeprefix(DIET)))
    return f"{key}{colon}{degree.strip()}" if key else name


CONVERTERS: Mapping[str, Callable[[str], str]] = {
    "market": market_slug,
    "cuisine": cuisine_slug,
    "attributes": attribute_key,
    "diet": diet_key,
}


SLUG_HINT = "a slug that search_restaurants gives, such as il-sole-verde."
HINTS = {"slug": SLUG_HINT}


def result_schema(name: str) -> Schema:
    """The declared result of the tool of this name."""
    result = DECLARATIONS[name]["result"]
    return schemas.result_schema(result["component"], only=result.get("members", {}))
