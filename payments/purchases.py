"""What is bought: one request, told apart from every other."""

import hashlib
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, urlencode

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request


@dataclass(frozen=True, slots=True)
class Purchase:
    """One thing that can be bought: `key` is the SHA-256 of method, path, query in order, and body.

    `url` is its absolute address, for people and for the ledger.
    """

    method: str
    url: str
    key: str

    @classmethod
    def of(cls, request: HttpRequest | Request) -> Self:
        """What this request asks for. HEAD asks for what GET would bring."""
        method = "GET" if request.method == "HEAD" else str(request.method)
        path = request.path.rstrip("/") or "/"
        query = urlencode(sorted(parse_qsl(request.META.get("QUERY_STRING", ""), keep_blank_values=True)))
        body = hashlib.sha256(request.body).hexdigest()
        key = hashlib.sha256("\n".join((method, path, query, body)).encode()).hexdigest()
        return cls(method=method, url=settings.PUBLIC_BASE_URL.rstrip("/") + request.get_full_path(), key=key)
