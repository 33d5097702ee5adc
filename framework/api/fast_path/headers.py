"""Headers of answers, many at once."""

from collections.abc import Iterable

from django.http import HttpResponseBase

Header = tuple[str, str]


def of(response: HttpResponseBase) -> list[Header]:
    """All headers, as WSGI takes them."""
    store: dict[str, Header] = response.headers._store  # noqa: SLF001  # their mapping looks each one up again
    return [*store.values(), *(("Set-Cookie", morsel.OutputString()) for morsel in response.cookies.values())]


def put(response: HttpResponseBase, headers: Iterable[Header]) -> None:
    """Set headers whose names and values are our own words, in ASCII and on one line.

    Django judges each name and value: for the 16 headers of an answer 200 calls, more than its view makes.
    """
    store: dict[str, Header] = response.headers._store  # noqa: SLF001  # beyond the judging
    for header in headers:
        store[header[0].lower()] = header
