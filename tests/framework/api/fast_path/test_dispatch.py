"""Which view an address of the APIs leads to."""

import re
from collections.abc import Iterator

import pytest
from django.urls import Resolver404, URLPattern, URLResolver, get_resolver

from framework.api.fast_path import dispatch

SLUG, ID = "joes-pizza-2", "ord_01jd5k3v8rf8hb2m0c9t6w4y7z"


def addresses(patterns: list[URLPattern | URLResolver], start: str = "") -> Iterator[str]:
    """An address for each pattern of the APIs, with and without its last slash."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            if f"{start}{pattern.pattern}" in ("v1/", "api/v1/"):
                yield from addresses(pattern.url_patterns, f"{start}{pattern.pattern}")
        elif start:
            words = str(pattern.pattern).removeprefix("^").removesuffix("$").removesuffix("/?")
            for payload in (SLUG, ID):
                path = start + re.sub(r"\(\?P<\w+>(?:\([^()]*\)|\[[^]]*\]|[^()])*\)", payload, words)
                yield from (f"/{path}", f"/{path}/", f"/{path}/more")


def test_each_address_leads_where_the_site_says() -> None:
    asked = sorted(
        {*addresses(get_resolver().url_patterns), "/v1", "/v1/", "/api/v1/none", "/mcp", "/v1/restaurants//"}
    )
    assert len(asked) > 150
    for path in asked:
        try:
            expected = get_resolver().resolve(path)
        except Resolver404:
            with pytest.raises(Resolver404):
                dispatch.resolve(path)
            continue
        found = dispatch.resolve(path)
        assert (found.func, found.args, found.kwargs) == (expected.func, expected.args, expected.kwargs), path
        assert (found.route, found.url_name) == (expected.route, expected.url_name), path
