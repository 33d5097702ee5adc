"""Strict query strings: what is not understood is refused by name, never dropped."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from django.http import HttpRequest
from rest_framework.request import Request

from framework.api.error_handler import invalid_request
from framework.errors import InvalidRequest, Problem, unknown_name

MAX_PARAMETERS = 100


def parse_query(request: HttpRequest | Request, known: Sequence[str]) -> dict[str, str]:
    """The parameters of the query string; see `parsed`."""
    return parse_query_string(request.META.get("QUERY_STRING", ""), known)


def parse_query_string(asked: str, known: Sequence[str]) -> dict[str, str]:
    """The parameters of this query string, each at most once.

    Raises InvalidRequest, naming them, for those that are not known, stand twice, are empty, or are not clean UTF-8.
    """
    if not asked:
        return {}
    try:
        pairs = parse_qsl(
            # WSGI hands on bytes as latin-1 letters, and not every client encodes what is not ASCII.
            asked.encode("latin-1").decode(),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except UnicodeDecodeError as error:
        raise InvalidRequest("The query string is not UTF-8.") from error
    except ValueError as error:
        raise InvalidRequest(f"The query string has more than {MAX_PARAMETERS} parameters.") from error
    found: dict[str, str] = {}
    wrong: list[Problem] = []
    for name, value in pairs:
        if name not in known:
            wrong.append(unknown_name("parameter", name[:80], known))
        elif name in found:
            wrong.append(Problem(name, f"`{name}` stands twice; give it once."))
        elif not value:
            wrong.append(Problem(name, f"`{name}` is empty; leave it out or give it a value."))
        elif "\x00" in value:
            wrong.append(Problem(name, f"`{name}` holds a NUL, which no text may hold."))
        found[name] = value
    if wrong:
        raise invalid_request(wrong)
    return found
