"""Random requests to the MCP endpoint, derived from a seed and a number; tests/mcp/fuzz_runner.py sends them."""

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from catalogue.mcp.server import SERVER
from payments.x402.proofs import PAYMENT_META
from tests.mcp import client

# Of tools that do something: no call of the fuzz may be one that is done, so these are never right.
NEVER_RIGHT = ("party_size", "dataset")
METHODS = (
    *("tools/call",) * 12,
    *("tools/list", "resources/list", "resources/templates/list", "prompts/list", "prompts/get", "resources/read"),
    *("completion/complete", "server/discover", "initialize", "ping", "notifications/initialized", "logging/setLevel"),
)
ERAS: tuple[client.Era, ...] = ("2026-07-28", "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26")
WORDS = (
    *("", " ", "a", "noma", "geranium", "copenhagen", "Tivoli", "now", "food", "seafood", "19:00", "2026-11-21", "en"),
    *("2026-11-21T18:00:00Z", "55.6737,12.5681", "0,0", "91,181", "1e309", "-1", "ada@example.com", "+4512345678"),
    *("../../etc/passwd", "'; DROP TABLE x; --", "%s%n", "{slug}", "<b>", "\u202e", "é", "😀", "İ", "\ufeff", "\x7f"),
    *("restaurants://prices", "restaurants://restaurant/noma", "restaurants://restaurant/%00", "ui://x", "a" * 300),
    *(
        "0x" + "5a" * 32,
        "0x" + "11" * 20,
        "NaN",
        "null",
        "9" * 5000,
        "a\x00b",
        "half \ud800",
        "\t\n",
        ",",
        "a,b",
        "//",
    ),
)
NUMBERS = (
    *(0, 1, -1, 2, 50, 51, 10_000, 2**31, 2**53 + 1, 2**63, 2**64, 10**19, -(2**63)),
    *(0.5, -0.0, 1e308, 5e-324, 3.0, 1e21),
)
# What no library writes.
RAW = (
    "NaN",
    "9" * 5000,
    "-" + "9" * 20,
    "-Infinity",
    "1e999",
    "01",
    "'a'",
    '{"a":1,"a":2}',
    "[" * 40 + "]" * 40,
    "{" * 2000,
    '"\\ud800"',
    "\x00",
)
MARK = "stands for what no library writes"
HEADERS = (
    *("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Authorization", "Origin", "Content-Type", "Content-Encoding"),
    *("Accept", "Cookie", "X-Payment", "PAYMENT-SIGNATURE", "X-Receipt", "sign-in-with-x", "If-None-Match"),
    *("Mcp-Session-Id", "Last-Event-ID", "Range", "X-HTTP-Method-Override", "Upgrade", "Accept-Encoding", "X-Junk"),
    *("Access-Control-Request-Method", "X-Forwarded-Host", "X-Forwarded-Proto", "Mcp-Param-slug", "Idempotency-Key"),
)
HEADER_VALUES = (
    *("", "null", "gzip", "identity", "br, gzip", "chunked", "text/html", "application/json; charset=utf-16", "*/*"),
    *("multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "http://evil.example", "http://[::1"),
    *("http://127.0.0.1", "https://localhost:1", "1999-01-01", "2026-07-28", "2025-11-25", "tools/call", "noma"),
    *("=?base64?bm9tYQ==?=", "=?base64?!?=", "=?base64?/w==?=", "Bearer", "Bearer x", "Bearer ws_x", "Basic YTpi"),
    *("Bearer rk_live_x", "Bearer  ", "bytes=0-", "é", "\x80\xff", "a" * 4000, "evil.example", "websocket", "/../"),
)
PATHS = (*("/mcp",) * 90, "/mcp/", "/mcp?x=%ff&x=1", "/mcp/x", "/mcp//", "/mcp/%00", "/mcp/%ff", "/mcp/..", "/mcp/%2e")
VERBS = (*("POST",) * 90, "GET", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "FOO")
# Of these a server cannot tell where the next request begins.
FRAMING = ("Content-Length", "Transfer-Encoding")


@dataclass(frozen=True)
class Case:
    """A request; what stands in the headers is sent as Latin 1."""

    number: int
    verb: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def address(self) -> str:
        """Where it comes from: each from its own, so that no limit is reached."""
        return f"10.{self.number >> 16 & 255}.{self.number >> 8 & 255}.{self.number & 255}"

    @property
    def is_framed(self) -> bool:
        """Whether it says itself how long it is, rightly or not."""
        return any(name in FRAMING for name, _ in self.headers)


@dataclass
class Maker:
    """Makes the cases of a seed. `credentials` are good tokens, `payments` what stands as payment in messages."""

    seed: int
    credentials: Sequence[str] = ()
    payments: Sequence[Mapping[str, Any]] = ()
    rng: random.Random = field(default_factory=random.Random)

    def case(self, number: int) -> Case:
        """The case of this number."""
        self.rng = rng = random.Random(f"{self.seed}:{number}")
        result, headers = self.message()
        kind = rng.random()
        if kind < 0.45:
            for _ in range(rng.choice((1, 1, 1, 2))):
                result = self.with_something_else(result)
        elif kind < 0.48:
            result = self.anything()
        body = written(result, rng)
        if 0.48 <= kind < 0.6:
            body = self.damaged(body)
        elif 0.6 <= kind < 0.63:
            body = rng.randbytes(rng.choice((0, 1, 20, 500, 5000)))
        names = {name: value for name, value in headers.items() if rng.random() > 0.03}
        if self.credentials and rng.random() < 0.3:
            names["Authorization"] = f"Bearer {rng.choice(self.credentials)}"
        for _ in range(rng.choice((0, 0, 0, 0, 0, 0, 1, 2, 4))):
            names[rng.choice(HEADERS)] = rng.choice((*HEADER_VALUES, *WORDS[:20]))
        if rng.random() < 0.01:
            names["Host"] = rng.choice((*HEADER_VALUES, *WORDS))
        if rng.random() < 0.08:
            name, value, body = self.framed(body)
            names[name] = value
        stored = tuple((name, clean(value)) for name, value in names.items())
        return Case(number, rng.choice(VERBS), rng.choice(PATHS), stored, body)

    # Messages
    def message(self) -> tuple[Any, dict[str, str]]:
        """A message that is right, but for some of its arguments, and the headers that go with it."""
        rng = self.rng
        method = rng.choice(METHODS)
        params = self.params(method)
        meta: dict[str, Any] = {}
        if rng.random() < 0.3:
            meta[PAYMENT_META] = rng.choice(self.payments) if self.payments else self.anything()
        for name in ("tablewire/receipt", "progressToken", "io.modelcontextprotocol/logLevel"):
            if rng.random() < 0.05:
                meta[name] = self.anything()
        capabilities: Any = rng.choice(({}, {"elicitation": {}}, {"elicitation": {"form": {}}}, self.anything()))
        result, headers = client.message(method, params, era=rng.choice(ERAS), meta=meta, capabilities={})
        if "io.modelcontextprotocol/clientCapabilities" in result["params"].get("_meta", {}):
            result["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities
        result["id"] = rng.choice(
            (1, 7, "a", "", -5, 2**53, 2**63, 10**19, self.anything() if rng.random() < 0.3 else 2)
        )
        if method.startswith("notifications/") or rng.random() < 0.05:
            del result["id"]
        return result, headers

    def params(self, method: str) -> dict[str, Any]:
        """Those of a method."""
        rng = self.rng
        params: dict[str, Any] = {}
        if method == "tools/call":
            tool = rng.choice(SERVER.tools)
            params = {"name": tool.name, "arguments": self.arguments(tool.input_schema)}
            if rng.random() < 0.1:
                params["requestState"] = self.anything()
                params["inputResponses"] = rng.choice(
                    ({"contact": {"action": "accept", "content": {}}}, self.anything())
                )
        elif method == "prompts/get":
            prompt = rng.choice(SERVER.prompts) if SERVER.prompts else None
            named = [one.name for one in prompt.arguments] if prompt else ["near"]
            params = {"name": prompt.name if prompt else "x"}
            params["arguments"] = {name: rng.choice(WORDS) for name in named if rng.random() < 0.8}
        elif method == "resources/read":
            uris = [one.uri for one in SERVER.resources]
            params = {"uri": re.sub(r"\{\w+\}", lambda _: rng.choice(WORDS), rng.choice([*uris, *WORDS]))}
        elif method == "completion/complete":
            refs = [{"type": "ref/prompt", "name": one.name} for one in SERVER.prompts]
            refs += [{"type": "ref/resource", "uri": one.uri} for one in SERVER.resources]
            names = ("near", "slug", "slugs", "budget", rng.choice(WORDS))
            params = {
                "ref": rng.choice([*refs, self.anything()]),
                "argument": {"name": rng.choice(names), "value": rng.choice(WORDS)},
            }
            if rng.random() < 0.2:
                params["context"] = rng.choice(({"arguments": {"near": self.anything()}}, self.anything()))
        elif method == "initialize":
            params = {"protocolVersion": rng.choice((*ERAS, self.anything())), "capabilities": self.anything()}
        elif rng.random() < 0.2:
            params = {"cursor": self.anything()}
        return params

    def answering(self, number: int, arguments: Mapping[str, Any], *, state: str) -> Case:
        """A call of book_table that brings an answer to what was asked: some good, most of them strange."""
        self.rng = rng = random.Random(f"{self.seed}:answer:{number}")
        good = {"customer_name": "Ada", "customer_email": "ada@example.com", "customer_phone": "+4533141414"}
        content: Any = {name: value for name, value in good.items() if rng.random() < 0.8}
        for _ in range(rng.choice((0, 0, 1, 1, 3))):
            content[rng.choice((*good, *WORDS))] = self.anything()
        answer: Any = {"action": rng.choice(("accept",) * 8 + ("decline", "cancel", "x")), "content": content}
        responses: Any = {"guest": answer}
        for _ in range(rng.choice((0, 0, 0, 1, 2))):
            responses = self.with_something_else(responses)
        middle = rng.randrange(len(state))
        stranger = (state[:middle], state[:middle] + "x" + state[middle + 1 :], state + state, self.anything())
        params = {"name": "book_table", "arguments": {**arguments}, "inputResponses": responses}
        params["requestState"] = state if rng.random() < 0.85 else rng.choice(stranger)
        result, headers = client.message("tools/call", params, era="2026-07-28", capabilities={"elicitation": {}})
        return Case(number, "POST", "/mcp", tuple(headers.items()), written(result, rng))

    def arguments(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments of a tool, most of them as its schema says."""
        rng, found = self.rng, {}
        needs = schema.get("required", ())
        for name, its in schema["properties"].items():
            if rng.random() > (0.95 if name in needs else 0.35):
                continue
            fits = rng.random() < 0.75 and name not in NEVER_RIGHT
            found[name] = self.fitting(its, name) if fits else self.anything(is_right=name not in NEVER_RIGHT)
        return found

    def fitting(self, schema: Mapping[str, Any], name: str = "") -> Any:
        """A value that this schema may allow."""
        rng = self.rng
        if "slug" in name and schema.get("type") == "string":
            return rng.choice(("noma", "geranium", "nowhere"))
        if "enum" in schema:
            return rng.choice(schema["enum"])
        lowest, highest = schema.get("minimum", -10), schema.get("maximum", 100_000)
        kind = schema.get("type")
        if kind == "array":
            return [self.fitting(schema.get("items", {})) for _ in range(rng.choice((1, 1, 2, 5)))]
        if kind == "integer":
            return rng.choice((lowest, highest, rng.randint(int(lowest), int(highest))))
        if kind == "number":
            return rng.choice((lowest, highest, rng.uniform(lowest, highest)))
        if kind == "boolean":
            return rng.random() < 0.5
        return rng.choice(WORDS)

    def anything(self, depth: int = 0, *, is_right: bool = True) -> Any:
        """Any value of JSON, and some that are none. What is not right may be no number and no text."""
        rng = self.rng
        kind = rng.random()
        if not is_right or kind < 0.1:
            return rng.choice((None, True, False, [], {}, MARK))
        if kind < 0.35:
            return rng.choice(NUMBERS)
        if kind < 0.75 or depth > 3:
            return rng.choice((*WORDS, MARK))
        if kind < 0.87:
            return [self.anything(depth + 1) for _ in range(rng.choice((1, 2, 3)))]
        return {rng.choice(WORDS): self.anything(depth + 1) for _ in range(rng.choice((1, 2, 3)))}

    def with_something_else(self, result: Any) -> Any:
        """The same JSON with any value in a random place, or with one thing more or less."""
        ways = list(places(result))
        way = self.rng.choice(ways)
        if way and way[-1] in NEVER_RIGHT:
            return result
        change = self.rng.random()
        if change < 0.15:
            return without(result, way)
        if change < 0.3:
            way = (*way[:-1], self.rng.choice(WORDS)) if way and isinstance(way[-1], str) else way
        return replaced(result, way, self.anything())

    # Bytes
    def damaged(self, body: bytes) -> bytes:
        """The same with bits turned, or bytes missing, doubled or from elsewhere."""
        rng, made = self.rng, bytearray(body or b"{}")
        for _ in range(rng.choice((1, 1, 2, 8))):
            at = rng.randrange(len(made)) if made else 0
            match rng.randrange(4):
                case 0 if made:
                    made[at] ^= 1 << rng.randrange(8)
                case 1:
                    del made[at:]
                case 2:
                    made[at:at] = made[at : at + rng.randrange(40)]
                case _:
                    made[at:at] = rng.choice(
                        (b"\x00", b"\xff", b"\xed\xa0\x80", b"[" * 50, b",", b'"', rng.randbytes(3))
                    )
        # A bit that is turned in a number could make a call right that must not be.
        return bytes(made) if not any(word.encode() in body for word in NEVER_RIGHT) else body[: len(body) // 2]

    def framed(self, body: bytes) -> tuple[str, str, bytes]:
        """A header that says how long the body is, and the body: in chunks, or told wrong."""
        rng = self.rng
        match rng.randrange(4):
            case 0:
                return "Content-Length", rng.choice(("-1", "x", "0", str(max(len(body) - 1, 0)), "9" * 30)), body
            case 1:
                return "Transfer-Encoding", "chunked", rng.choice((b"zz\r\n" + body, b"5\r\nab", b"0\r\n\r\n"))
            case _:
                half = len(body) // 2
                parts = [part for part in (body[:half], body[half:]) if part]
                chunks = b"".join(f"{len(part):x}\r\n".encode() + part + b"\r\n" for part in parts)
                return "Transfer-Encoding", "chunked", chunks + b"0\r\n\r\n"


def clean(text: str) -> str:
    """A value that can stand in a header."""
    output = re.sub(r"[\r\n\x00]", " ", text).strip()
    try:
        output.encode("latin-1")
    except UnicodeEncodeError:
        return output.encode("utf-8", "surrogatepass").decode("latin-1")
    return output


def written(result: Any, rng: random.Random) -> bytes:
    """JSON, with what no library writes where it is marked."""
    text = json.dumps(result, ensure_ascii=rng.random() < 0.7)
    text = re.sub(f'"{MARK}"', lambda _: rng.choice(RAW), text)
    return text.encode("utf-8", "surrogatepass")


def places(result: Any, *, within: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to each value of this JSON, the whole first."""
    yield within
    inner = result.items() if isinstance(result, dict) else enumerate(result) if isinstance(result, list) else ()
    for step, value in inner:
        yield from places(value, within=(*within, step))


def replaced(result: Any, way: Sequence[str | int], by: Any) -> Any:
    """The same JSON with something else in one place."""
    if not way:
        return by
    step, *rest = way
    if isinstance(result, list) and isinstance(step, int):
        return [*result[:step], replaced(result[step], rest, by), *result[step + 1 :]]
    known = result if isinstance(result, dict) else {}
    return {**known, str(step): replaced(known.get(str(step)), rest, by)}


def without(result: Any, way: Sequence[str | int]) -> Any:
    """The same JSON without what stands there."""
    if not way:
        return {}
    step, *rest = way
    if rest:
        return replaced(result, [step], without(result[step], rest))
    if isinstance(result, list):
        return [value for at, value in enumerate(result) if at != step]
    return {name: value for name, value in result.items() if name != step}


def proof(**changes: Any) -> dict[str, Any]:
    """A payment of version 2 that nobody has signed."""
    authorization = {
        "from": "0x" + "11" * 20,
        "to": "0x" + "22" * 20,
        "value": "2000",
        "validAfter": "0",
        "validBefore": "1800000060",
        "nonce": "0x" + "33" * 32,
    }
    accepted = {"scheme": "exact", "network": "eip155:84532", "asset": "0x" + "44" * 20, "amount": "2000"}
    accepted |= {"payTo": "0x" + "22" * 20}
    payload = {"signature": "0x" + "5b" * 65, "authorization": authorization}
    return {"x402Version": 2, "payload": payload, "accepted": accepted, **changes}
