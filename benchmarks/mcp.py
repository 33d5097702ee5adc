"""How many calls a running `manage.py up` answers at its MCP endpoint, beside the same asked of REST, and what the
protocol itself takes.

    uv run --group benchmarks python -m benchmarks.mcp --state-dir .state

The callers are processes of this machine with kept connections, so they take their share of its cores, and absolute
figures say as much about the machine as about us; hence the ratios, of the median rounds of a run whose rounds are
interleaved: a look-up by a tool to the same record at REST, a price to a 402, a paid call to a paid request. CPU is
what the web process has used for each call. The protocol alone is measured in this process: a message is read, its era
found, and a tool called that has its answer ready; no database, no doorway.

It makes itself fail where a look-up by a tool comes to less than half of the records that REST gives in the same time,
and where the protocol takes more than 0.1 ms of CPU for a call in the best of its rounds: a busy machine spoils some.
It spends a little USDC of a demo wallet, and leaves the payments in the ledger. Start the product with
TRUSTED_PROXIES=1: each call comes from an address of its own, as /v1 and /mcp count calls by address.
"""

import argparse
import base64
import json
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
from rich.console import Console
from rich.table import Table

from benchmarks.payments import UnexpectedResponse, addresses, cpu_s, sign_payments
from framework.state_directory import read_up_record

GATE, GOAL = 0.5, 0.7
MAX_PROTOCOL_MS, PROTOCOL_ROUNDS = 0.1, 7
LATEST, STATELESS = "2025-11-25", "2026-07-28"


@dataclass(frozen=True)
class Call:
    """A request, with what its answer must have: this status, and these bytes in its body."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    status: int = 200
    holds: bytes = b""


@dataclass(frozen=True)
class Case:
    """Calls of one kind, by their name in the table, and the kind that they are held against."""

    name: str
    calls: Sequence[Call]
    beside: str | None = None


# Calls
def jsonrpc_request(method: str, params: Mapping[str, Any], *, holds: bytes, era: str = LATEST) -> Call:
    """A message to the MCP endpoint."""
    headers = {"Content-Type": "application/json", "Accept": "application/json", "MCP-Protocol-Version": era}
    parameters = dict(params)
    if era == STATELESS:
        about = "io.modelcontextprotocol/"
        parameters["_meta"] = {
            f"{about}protocolVersion": era,
            f"{about}clientCapabilities": {},
            **parameters.get("_meta", {}),
        }
        headers["Mcp-Method"] = method
        if "name" in parameters:
            headers["Mcp-Name"] = parameters["name"]
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    return Call("POST", "/mcp", headers, json.dumps(body).encode(), holds=holds)


def tool_call(name: str, arguments: Mapping[str, Any], *, holds: bytes, payment: str = "", era: str = LATEST) -> Call:
    """A call of a tool, with this payment."""
    params: dict[str, Any] = {"name": name, "arguments": dict(arguments)}
    if payment:
        params["_meta"] = {"x402/payment": json.loads(base64.b64decode(payment))}
    return jsonrpc_request("tools/call", params, holds=holds, era=era)


def cases(slug: str, payments: Sequence[str], count: int) -> Iterator[Case]:
    """What is measured; half of the payments are spent at each door."""
    path, whose = f"/v1/restaurants/{slug}", {"slug": slug}
    around, half = f"{path}?fields=context", len(payments) // 2
    record = b'"structuredContent":{"'
    paid_holds = b'"tablewire/receipt"'
    yield Case("record, REST", [Call("GET", path)] * count)
    yield Case("get_restaurant", [tool_call("get_restaurant", whose, holds=record)] * count, "record, REST")
    stateless = tool_call("get_restaurant", whose, holds=record, era=STATELESS)
    yield Case("get_restaurant, 2026-07-28", [stateless] * count, "record, REST")
    yield Case("tools/list", [jsonrpc_request("tools/list", {}, holds=b'"inputSchema"')] * count, "record, REST")
    yield Case("402, REST", [Call("GET", around, status=402)] * count)
    price = tool_call("get_surroundings", whose, holds=b'"x402Version"')
    yield Case("price of a tool", [price] * count, "402, REST")
    yield Case("paid, REST", [Call("GET", around, {"PAYMENT-SIGNATURE": payment}) for payment in payments[:half]])
    paid = [tool_call("get_surroundings", whose, holds=paid_holds, payment=payment) for payment in payments[half:]]
    yield Case("paid tool", paid, "paid, REST")


def send(connection: HTTPConnection, call: Call, address: str) -> int:
    """Make the call and return how many bytes came. Raises Wrong."""
    connection.request(call.method, call.path, body=call.body, headers={**call.headers, "X-Forwarded-For": address})
    response = connection.getresponse()
    content = response.read()
    if response.status != call.status or call.holds not in content:
        raise UnexpectedResponse(f"{call.path}: {response.status} {content.decode(errors='replace')[:300]}")
    return len(content)


def caller(base_url: str, calls: Sequence[tuple[Call, str]], answered: Any) -> None:
    """One caller: makes its calls, one after the other."""
    with closing(HTTPConnection(urlsplit(base_url).netloc, timeout=30)) as connection:
        answered.put(sum(send(connection, call, address) for call, address in calls))


def measure_rate(base_url: str, calls: Sequence[Call], callers: int) -> tuple[float, float]:
    """Calls a second of so many callers together, and the bytes of an answer. Raises Wrong when one has failed."""
    context = multiprocessing.get_context("fork")
    answered = context.Queue()
    each = [(call, next(addresses)) for call in calls]
    every = [context.Process(target=caller, args=(base_url, each[n::callers], answered)) for n in range(callers)]
    began = time.perf_counter()
    for one in every:
        one.start()
    for one in every:
        one.join()
    seconds = time.perf_counter() - began
    if any(one.exitcode for one in every):
        raise UnexpectedResponse("a caller has failed")
    return len(calls) / seconds, sum(answered.get() for _ in every) / len(calls)


# The protocol alone
def protocol_ms(call: Call, times: int) -> tuple[float, float]:
    """Milliseconds of CPU that the protocol takes for a call, and for one with the doorway's part left out of it:
    reading the message alone.
    """
    from django.test import RequestFactory

    from catalogue.mcp.server import SERVER
    from framework.mcp import jsonrpc
    from framework.mcp.responses import ToolResult
    from framework.mcp.tools import Tool
    from payments.identity.caller import anonymous_caller

    # As long as a record is.
    body = json.dumps({"slug": "noma", "text": "x" * 1500}).encode()
    stub = Tool(
        name="get_restaurant",
        title="Stub",
        description="Has its answer ready.",
        operation="get_restaurant",
        arguments={"slug": "A slug."},
        serializer=None,
        output=lambda: {"type": "object"},
        run=lambda _call, _values: ToolResult(body),
    )
    server = replace(SERVER, tools=[stub])
    headers: Any = call.headers
    kind = "application/json"
    requests = [
        RequestFactory().post(call.path, call.body, content_type=kind, headers=headers) for _ in range(2 * times)
    ]
    for request in requests:
        request.caller = anonymous_caller(request)  # type: ignore[attr-defined]  # as the doorway leaves it
    began = time.process_time()
    for request in requests[:times]:
        answer = server.handle(request, jsonrpc.read_message(request))
    whole = time.process_time() - began
    if answer.status_code != 200 or b"xxx" not in answer.content:
        raise UnexpectedResponse(answer.content.decode()[:300])
    began = time.process_time()
    for request in requests[times:]:
        jsonrpc.read_message(request)
    return 1000 * whole / times, 1000 * (time.process_time() - began) / times


# All of it
def find_paid_slug(base_url: str) -> str:
    """A restaurant around which there is something that is sold. Raises Wrong."""
    with closing(HTTPConnection(urlsplit(base_url).netloc, timeout=30)) as connection:
        headers = {"X-Forwarded-For": next(addresses)}
        connection.request("GET", "/v1/restaurants?limit=20", headers=headers)
        for found in json.loads(connection.getresponse().read())["data"]:
            slug = str(found["slug"])
            try:
                send(connection, Call("GET", f"/v1/restaurants/{slug}?fields=context", status=402), next(addresses))
            except UnexpectedResponse:
                continue
            return slug
    raise UnexpectedResponse("no restaurant has anything around it that is sold")


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--state-dir", type=Path, default=Path(".state"), help="that of the running `manage.py up`")
    parser.add_argument("--calls", type=int, default=400, help="of each kind in each round")
    parser.add_argument("--payments", type=int, default=40, help="in each round, half of them at each door")
    parser.add_argument("--callers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    words = parser.parse_args()
    up = read_up_record(words.state_dir)
    if up is None:
        parser.error(f"nothing runs in {words.state_dir}: `TRUSTED_PROXIES=1 manage.py up --state-dir ...` first")
    os.environ |= {"TABLEWIRE_STATE_DIR": str(words.state_dir), "DJANGO_SETTINGS_MODULE": "config.settings"}
    django.setup()
    base_url = up["base_url"]
    slug = find_paid_slug(base_url)
    rates: dict[str, list[float]] = {}
    cpu_ms: dict[str, list[float]] = {}
    sizes: dict[str, float] = {}
    beside: dict[str, str | None] = {}
    for _ in range(words.rounds):
        for case in cases(slug, sign_payments(up, words.payments), words.calls):
            before = cpu_s(up["pids"])["web process"]
            per_s, sizes[case.name] = measure_rate(base_url, case.calls, words.callers)
            used = cpu_s(up["pids"])["web process"] - before
            rates.setdefault(case.name, []).append(per_s)
            cpu_ms.setdefault(case.name, []).append(1000 * used / len(case.calls))
            beside[case.name] = case.beside
    middle = {name: statistics.median(found) for name, found in rates.items()}
    table = Table(*("call", "calls/s", "of REST", "web CPU, ms", "bytes"))
    for name, per_s in middle.items():
        other = beside[name]
        ratio = f"{per_s / middle[other]:.2f} of {other}" if other else ""
        table.add_row(name, f"{per_s:.0f}", ratio, f"{statistics.median(cpu_ms[name]):.2f}", f"{sizes[name]:.0f}")
    max_ms = 0.0
    for era in (LATEST, STATELESS):
        stub = tool_call("get_restaurant", {"slug": "noma"}, holds=b"", era=era)
        whole, reading = min(protocol_ms(stub, 1000) for _ in range(PROTOCOL_ROUNDS))
        max_ms = max(max_ms, whole)
        table.add_row(f"the protocol alone, {era}", "", "", f"{whole:.3f} (reading {reading:.3f})", "")
    Console(width=max(110, Console().width)).print(table)
    reached = middle["get_restaurant"] / middle["record, REST"]
    if reached < GOAL:
        Console(stderr=True).print(f"get_restaurant comes to {reached:.2f} of REST; the goal is {GOAL}.")
    if max_ms > MAX_PROTOCOL_MS:
        Console(stderr=True).print(f"The protocol takes {max_ms:.3f} ms of a call; it may take {MAX_PROTOCOL_MS}.")
    sys.exit(1 if reached < GATE or max_ms > MAX_PROTOCOL_MS else 0)


if __name__ == "__main__":
    main()
