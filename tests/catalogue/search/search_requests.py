"""Questions to the catalogue, without HTTP."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from catalogue import search
from catalogue.search import Hit, Query
from framework.errors import InvalidRequest
from tests.catalogue.builders import NOW


def find(now: datetime = NOW, **question: Any) -> list[Hit]:
    """The hits of the first page."""
    return search.search_restaurants(Query(**question), now=now).hits


def names(now: datetime = NOW, **question: Any) -> list[str]:
    """Their names."""
    return [hit.name for hit in find(now, **question)]


def walk(query: Query) -> Iterator[list[Hit]]:
    """Page after page."""
    while True:
        page = search.search_restaurants(query, now=NOW)
        yield page.hits
        if page.next_cursor is None:
            return
        query = replace(query, cursor=page.next_cursor)


def refused(**question: Any) -> InvalidRequest:
    """What the question is refused with."""
    with pytest.raises(InvalidRequest) as refusal:
        search.search_restaurants(Query(**question), now=NOW)
    return refusal.value
