"""Reads and sets several response headers at once, without Django's validation of each."""

from collections.abc import Iterable

from django.http import HttpResponseBase

from framework.django_internals import stored_headers

Header = tuple[str, str]


def wsgi_headers(response: HttpResponseBase) -> list[Header]:
    """All headers, as a WSGI server expects them."""
    return [
        *stored_headers(response).values(),
        *(("Set-Cookie", morsel.OutputString()) for morsel in response.cookies.values()),
    ]


def set_headers(response: HttpResponseBase, headers: Iterable[Header]) -> None:
    """Set headers whose names and values are our own, in ASCII and on one line: nothing validates them."""
    store = stored_headers(response)
    for header in headers:
        store[header[0].lower()] = header
