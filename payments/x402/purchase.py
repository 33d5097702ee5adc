"""What is bought: one request, told apart from every other."""

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

# The method by which MCP asks for what a tool gives.
TOOL_CALL = "tools/call"


@dataclass(frozen=True, slots=True)
class Purchase:
    """One thing that can be bought: `key` is the SHA-256 of method, path, query in order, and body; of a tool, of its
    name and arguments.

    `url` is its absolute address, for people and for the ledger; `told` is what a challenge calls it.
    """

    method: str
    url: str
    key: str
    door: str = Payment.Door.REST
    told: str | None = None

    @classmethod
    def of(cls, request: HttpRequest | Request) -> Self:
        """What this request asks for. HEAD asks for what GET would bring."""
        method = "GET" if request.method == "HEAD" else str(request.method)
        path = request.path.rstrip("/") or "/"
        query = urlencode(sorted(parse_qsl(request.META.get("QUERY_STRING", ""), keep_blank_values=True)))
        body = hashlib.sha256(request.body).hexdigest()
        key = hashlib.sha256("\n".join((method, path, query, body)).encode()).hexdigest()
        return cls(method=method, url=settings.PUBLIC_BASE_URL.rstrip("/") + request.get_full_path(), key=key)

    @classmethod
    def of_tool(cls, name: str, arguments: Mapping[str, Any]) -> Self:
        """What this call of a tool of the MCP endpoint asks for; `arguments` are plain values of JSON."""
        address = f"mcp://tool/{name}"
        given = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
        key = hashlib.sha256(b"\n".join((TOOL_CALL.encode(), name.encode(), given))).hexdigest()
        query = urlencode(
            {
                word: value if isinstance(value, str) else orjson.dumps(value).decode()
                for word, value in sorted(arguments.items())
            }
        )
        return cls(
            method=TOOL_CALL,
            url=f"{address}?{query}" if query else address,
            key=key,
            door=Payment.Door.MCP,
            told=address,
        )
