"""Finding: from a question to a page of hits."""

from dataclasses import replace
from datetime import datetime

from catalogue.search import facets, fetch, query_resolution
from catalogue.search.fetch import Row
from catalogue.search.query import Query
from catalogue.search.results import Page, attribute
from catalogue.search.sql import Statement
from catalogue.search.text import labels as text_labels
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import Cursor

# Fewer are like nearly every name.
FEWEST_LETTERS = 3


def find(query: Query, *, now: datetime) -> Page:
    """Search the catalogue.

    The later pages of a walk speak of the same moment as its first. One statement for the hits and their offers; one
    more for sources and for names where this process does not remember them, one each for `near`, `lang`, `facets` and
    `include_total` where the question has them, and one where words match nothing and letters are tried. Where so many
    restaurants are at one place that a page ends among them, the hits take another. Raises InvalidRequest, naming the
    parameter: PlaceNotResolved, InvalidCursor, an unknown name, parameters that need one another.
    """
    # A cursor keeps the moment to the second.
    now = now.replace(microsecond=0)
    read = query_resolution.read(query)
    # A name that has come to mean another place meanwhile makes another question.
    question = pagination_cursor.fingerprint("restaurants", query.walked, read.center)
    cursor = (
        pagination_cursor.decode_cursor(query.cursor, question=question, now=now)
        if query.cursor
        else Cursor(after=(0,), as_of=now)
    )
    by_letters, *after = cursor.after
    statement = Statement(
        query=query,
        center=read.center,
        open_at=read.open_at(now=cursor.as_of),
        now=cursor.as_of,
        asked=read.asked,
        after=tuple(after),
        by_letters=bool(by_letters),
    )
    # A row more than asked for says that there is another page.
    found = fetch.read(statement, wanted=query.limit + 1)
    if query.q and len(query.q) >= FEWEST_LETTERS and not found and not after:
        statement = replace(statement, by_letters=True)
        found = fetch.read(statement, wanted=query.limit + 1)
    shown = found[: query.limit]
    labels = text_labels.cuisines(query.lang) if query.lang and query.lang != text_labels.ENGLISH else None
    return Page(
        hits=fetch.hits(shown, now=cursor.as_of, labels=labels),
        limit=query.limit,
        next_cursor=_next(statement, shown[-1], question) if len(found) > query.limit else None,
        as_of=cursor.as_of,
        near=query.near,
        resolved=read.near.place if read.near else None,
        alternatives=read.near.alternatives if read.near else (),
        open_at=statement.open_at,
        attribution=attribute(map(fetch.SOURCES, shown)),
        total=facets.total(statement) if query.include_total else None,
        facets=facets.facets(statement) if query.facets else None,
    )


def _next(statement: Statement, last: Row, question: str) -> str:
    return pagination_cursor.encode_cursor(
        (int(statement.by_letters), *fetch.key(statement, last), fetch.ID(last).hex),
        as_of=statement.now,
        question=question,
    )
