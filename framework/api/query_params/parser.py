"""A strict parser of query strings: unknown and malformed parameters are errors, never ignored."""

from collections.abc import Sequence
from urllib.parse import parse_qsl

from django.http import HttpRequest
from rest_framework.request import Request

from framework.api.error_handler import invalid_request
from framework.errors import InvalidRequest, Problem, unknown_name

MAX_PARAMETERS = 100


def parse_query(request: HttpRequest | Request, known: Sequence[str]) -> dict[str, str]:
    return parse_query_string(request.META.get("QUERY_STRING", ""), known)


def parse_query_string(query_string: str, known: Sequence[str]) -> dict[str, str]:
    """The parameters by name.

    Raises InvalidRequest for unknown, repeated and empty parameters, and for bad UTF-8 and NUL.
    """
    if not query_string:
        return {}
    try:
        pairs = parse_qsl(
            # WSGI decodes bytes as latin-1, and not every client percent-encodes non-ASCII characters.
            query_string.encode("latin-1").decode(),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=MAX_PARAMETERS,
        )
    except UnicodeDecodeError as error:
        raise InvalidRequest("The query string is not UTF-8.") from error
    except ValueError as error:
        raise InvalidRequest(f"The query string has more than {MAX_PARAMETERS} parameters.") from error
    params: dict[str, str] = {}
    problems: list[Problem] = []
    for name, value in pairs:
        if name not in known:
            problems.append(unknown_name("parameter", name[:80], known))
        elif name in params:
            problems.append(Problem(name, f"`{name}` stands twice; give it once."))
        elif not value:
            problems.append(Problem(name, f"`{name}` is empty; leave it out or give it a value."))
        elif "\x00" in value:
            problems.append(Problem(name, f"`{name}` holds a NUL, which no text may hold."))
        params[name] = value
    if problems:
        raise invalid_request(problems)
    return params
