"""What a payment buys: one request, identified by a key."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import parse_qsl, urlencode

import orjson
from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

from payments.models import Payment

# The method of MCP that calls a tool.
TOOL_CALL = "tools/call"
# Proxies refuse headers beyond 4 to 8 KB: a longer address is cut to the part before its query.
MAX_URL_LENGTH = 250
MCP_SCHEME = "mcp://"
# Between the address of an order of an export and the export's id (catalogue.exports.requests.payment_state).
EXPORT_MARK = "#ex_"


def shorten_url(url: str) -> str:
    """Return the address of a purchase as 402s and receipts name it, short enough for a header.

    Of a tool call it is the tool without its arguments. The mark of an export (`#ex_...`) is left out.
    """
    url = url.partition(EXPORT_MARK)[0]
    return url.partition("?")[0][:MAX_URL_LENGTH] if len(url) > MAX_URL_LENGTH or url.startswith(MCP_SCHEME) else url


@dataclass(frozen=True, slots=True)
class Purchase:
    """One thing that can be bought.

    `key` is the SHA-256 of the method, path, sorted query and body of a request, or of the name and arguments of a
    tool call; of an order that is paid its public id. `url` is the absolute address that the ledger shows.
    """

    method: str
    url: str
    key: str
    channel: str = Payment.Channel.REST

    @classmethod
    def for_request(cls, request: HttpRequest | Request) -> Self:
        """Return the purchase of this request. HEAD buys what GET would."""
        method = "GET" if request.method == "HEAD" else str(request.method)
        path = request.path.rstrip("/") or "/"
        query = urlencode(sorted(parse_qsl(request.META.get("QUERY_STRING", ""), keep_blank_values=True)))
        body = hashlib.sha256(request.body).hexdigest()
        key = hashlib.sha256("\n".join((method, path, query, body)).encode()).hexdigest()
        return cls(method=method, url=settings.PUBLIC_BASE_URL.rstrip("/") + request.get_full_path(), key=key)

    @classmethod
    def for_tool_call(cls, name: str, arguments: Mapping[str, Any]) -> Self:
        """Return the purchase of this call of an MCP tool; `arguments` are plain JSON values."""
        address = f"{MCP_SCHEME}tool/{name}"
        sorted_arguments = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
        key = hashlib.sha256(b"\n".join((TOOL_CALL.encode(), name.encode(), sorted_arguments))).hexdigest()
        query = urlencode(
            {
                key: value if isinstance(value, str) else orjson.dumps(value).decode()
                for key, value in sorted(arguments.items())
            }
        )
        return cls(
            method=TOOL_CALL,
            url=f"{address}?{query}" if query else address,
            key=key,
            channel=Payment.Channel.MCP,
        )
