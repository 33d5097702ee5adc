"""Search: resolve a query, execute its statement and render a page."""

from dataclasses import replace
from datetime import datetime, timedelta
from enum import IntEnum

from catalogue.attribution import attribution_lines
from catalogue.bookings.search import find_bookable
from catalogue.search import facets, fetch, query_resolution
from catalogue.search.geocoding import landmarks
from catalogue.search.later_moments import LaterMoment
from catalogue.search.query import INTERVALS_AHEAD, Query
from catalogue.search.results import Count, Page
from catalogue.search.sql import SearchStatement
from catalogue.search.text.labels import translations
from framework.api.pagination import cursor as pagination_cursor
from framework.api.pagination.cursor import Cursor

# Shorter texts are similar to nearly every name.
MIN_TRIGRAM_LENGTH = 3


class Method(IntEnum):
    """How hits match the words of `q`.

    All of them; or if nothing has all, then names that are similar; or those words only that name a cuisine, a diet or
    a kind of place.
    """

    ALL_WORDS = 0
    SIMILAR_NAMES = 1
    FEWER_WORDS = 2


def apply_method(statement: SearchStatement, method: Method) -> SearchStatement:
    if method is Method.SIMILAR_NAMES:
        return replace(statement, by_trigrams=True)
    if method is Method.FEWER_WORDS:
        terms = tuple(term for term in statement.terms if term.is_named)
        words = " ".join(term.text for term in terms)
        return replace(statement, terms=terms, query=replace(statement.query, q=words))
    return statement


def choose_fallback(statement: SearchStatement) -> Method | None:
    """Return how to search when nothing has all words, None if every word names something."""
    named = [term.is_named for term in statement.terms]
    if all(named):
        return None
    if any(named):
        return Method.FEWER_WORDS
    return Method.SIMILAR_NAMES if len(str(statement.query.q)) >= MIN_TRIGRAM_LENGTH else None


def search_restaurants(query: Query, *, now: datetime) -> Page:
    """Search restaurants.

    The pages of one search are as of the moment of its first page. One statement for the hits with their offers; one
    more for attribution lines and for the vocabulary where they are not cached, one each for `near`, `lang`, `facets`
    and `include_total`, one for the trigram search where no document has the words of `q`, and one where so many
    restaurants share a position that a page ends among them. `bookable_at` takes eight more. Beyond the stored open
    intervals two more for each batch of candidates (later_moments). Raises InvalidRequest naming the parameter:
    PlaceNotResolved, InvalidCursor, an unknown name, parameters that need one another.
    """
    # A cursor stores the moment to the second.
    now = now.replace(microsecond=0)
    resolved = query_resolution.resolve_query(query)
    # The center is part of the fingerprint: if the name of a place resolves differently, the cursor is rejected.
    fingerprint = pagination_cursor.fingerprint("restaurants", query.pagination_key, resolved.center)
    cursor = Cursor(after=(0,), as_of=now)
    if query.cursor:
        cursor = pagination_cursor.decode_cursor(query.cursor, question=fingerprint, now=now)
    number, *after = cursor.after
    method = Method(int(number))
    moment = resolved.open_at(now=cursor.as_of)
    later = None
    if moment and (end := moment + timedelta(minutes=resolved.query.open_for or 0)) > cursor.as_of + INTERVALS_AHEAD:
        later = LaterMoment(start=moment, end=end, now=cursor.as_of)
    only = None
    if query.bookable_at is not None:
        only = find_bookable(
            query.bookable_at, party_size=query.party_size or 0, market=resolved.query.market, now=cursor.as_of
        )
    statement = SearchStatement(
        query=resolved.query,
        center=resolved.center,
        open_at=None if later else moment,
        may_be_open=later is not None,
        now=cursor.as_of,
        only=only,
        terms=resolved.terms,
        after=tuple(after),
    )
    # The row beyond the limit shows that there is another page.
    statement = apply_method(statement, method)
    fetch_rows = later.fetch_rows if later else fetch.fetch_rows
    rows = fetch_rows(statement, limit=query.limit + 1)
    if not rows and not after and (fallback := choose_fallback(statement)):
        texts = [term.text for term in statement.terms if not term.is_named]
        method = fallback
        statement = apply_method(statement, fallback)
        is_anywhere = not (statement.center or statement.query.market or statement.query.bbox)
        if is_anywhere and method is Method.FEWER_WORDS:
            # Hits without the city that was typed would be in other countries.
            landmarks.check_inside(texts)
        rows = fetch_rows(statement, limit=query.limit + 1)
        if is_anywhere and not rows:
            landmarks.check_inside(texts)
    page = rows[: query.limit]
    next_cursor = None
    if len(rows) > query.limit:
        last = page[-1]
        next_cursor = pagination_cursor.encode_cursor(
            (int(method), *fetch.sort_key(statement, last), fetch.ID(last).hex),
            as_of=statement.now,
            question=fingerprint,
        )
    total = None
    if later and (query.include_total or query.facets):
        statement = replace(statement, only=later.find_matches(statement))
        total = Count(len(statement.only or ()), is_exact=True)
    elif query.include_total:
        total = facets.count_matches(statement)
    sources = {source for row in page for source in fetch.SOURCES(row)}
    if resolved.near and (source := resolved.near.place.source):
        sources.add(source)
    return Page(
        hits=fetch.render_hits(page, now=cursor.as_of, labels=translations(query.lang)),
        limit=query.limit,
        next_cursor=next_cursor,
        as_of=cursor.as_of,
        near=query.near,
        resolved=resolved.near.place if resolved.near else None,
        alternatives=resolved.near.alternatives if resolved.near else (),
        open_at=moment,
        understood=resolved.understood,
        matched=method.name.lower(),
        without=facets.count_without_filters(statement) if not (rows or query.cursor or later) else None,
        attribution=attribution_lines(sources),
        total=total if query.include_total else None,
        facets=facets.count_facets(statement) if query.facets else None,
    )
