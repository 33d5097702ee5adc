"""Bodies that a careless reader of JSON chokes on, and what the MCP endpoint makes of each."""

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.mcp.fuzzing import Case

WRONG = 400
TOO_LARGE = 413
# In band: the call is understood, and refused by its tool.
REFUSED = 200


@dataclass(frozen=True)
class Hostile:
    """A body with its headers, and the status of the answer."""

    body: bytes
    status: int = WRONG
    headers: Mapping[str, str] = field(default_factory=dict)

    def case(self, number: int = 1) -> Case:
        """The request that has it, from the address of this number."""
        headers = {"Content-Type": "application/json", "MCP-Protocol-Version": "2025-11-25", **self.headers}
        return Case(number, "POST", "/mcp", tuple(headers.items()), self.body)


def calling(arguments: bytes) -> bytes:
    """A call of a tool whose arguments are these bytes."""
    head = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_restaurants","arguments":'
    return head + arguments + b"}}"


def chunked(body: bytes) -> bytes:
    """The same in one chunk."""
    return f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"


LARGE = b'{"jsonrpc":"2.0","id":1,"method":"' + b"a" * 30_000_000 + b'"}'
IN_CHUNKS = {"Transfer-Encoding": "chunked"}

HOSTILE: Mapping[str, Hostile] = {
    "30 MB": Hostile(LARGE, TOO_LARGE),
    "30 MB in chunks": Hostile(chunked(LARGE), TOO_LARGE, IN_CHUNKS),
    "300 kB": Hostile(b" " * 300_000 + b"{}", TOO_LARGE),
    "a length of 30 digits": Hostile(b"{}", TOO_LARGE, {"Content-Length": "9" * 30}),
    "100,000 lists": Hostile(b"[" * 100_000),
    "100,000 lists in a message": Hostile(calling(b"[" * 100_000 + b"]" * 100_000)),
    "40,000 objects": Hostile(calling(b'{"a":' * 40_000 + b"1" + b"}" * 40_000)),
    "50,000 lists, well closed, in an argument": Hostile(calling(b'{"q":' + b"[" * 50_000 + b"]" * 50_000 + b"}")),
    "120,000 elements": Hostile(calling(b'{"cuisine":[' + b"0," * 120_000 + b"0]}"), REFUSED),
    "200,000 elements": Hostile(calling(b'{"cuisine":[' + b"0," * 200_000 + b"0]}"), TOO_LARGE),
    "20,000 unknown arguments": Hostile(
        calling(json.dumps({f"a{number}": 1 for number in range(18_000)}, separators=(",", ":")).encode()), REFUSED
    ),
    "a number of 100,000 digits": Hostile(calling(b'{"limit":' + b"9" * 100_000 + b"}")),
    "a number beyond a double": Hostile(calling(b'{"limit":1e999}')),
    "a number beyond 64 bits": Hostile(calling(b'{"limit":18446744073709551616}')),
    "an id beyond 64 bits": Hostile(b'{"jsonrpc":"2.0","id":18446744073709551616,"method":"ping"}'),
    "NaN": Hostile(calling(b'{"limit":NaN}')),
    "minus infinity": Hostile(calling(b'{"limit":-Infinity}')),
    "bad UTF-8": Hostile(calling(b'{"q":"\xff\xfe"}')),
    "UTF-16": Hostile('{"jsonrpc":"2.0"}'.encode("utf-16")),
    "NUL": Hostile(calling(b'{"q":"a\x00b"}')),
    "an escaped NUL": Hostile(calling(b'{"q":"a\\u0000b"}'), REFUSED),
    "half a surrogate pair": Hostile(calling(b'{"q":"\\ud800"}'), REFUSED),
    "half a surrogate pair in a name": Hostile(calling(b'{"\\udfff":1}'), REFUSED),
    "a key twice": Hostile(calling(b'{"q":"a","q":"b"}')),
    "a batch": Hostile(b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 1000) + b"]"),
    "half a megabyte of quotes": Hostile(b'{"a":"' + b'\\"' * 120_000),
    "a gzip bomb": Hostile(gzip.compress(b"0" * 10_000_000), WRONG, {"Content-Encoding": "gzip"}),
    "nothing": Hostile(b""),
    "nothing in chunks": Hostile(b"0\r\n\r\n", WRONG, IN_CHUNKS),
}
