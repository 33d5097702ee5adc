"""The rows of our other doors: a paid record beside its settlement alone, and a tool of MCP beside REST."""

import base64
import http.client
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta
from functools import partial
from statistics import quantiles
from typing import Any

import httpx

from benchmarks import post_load
from benchmarks.contenders import HOST, Contender, our_server
from benchmarks.figures import OURS, Bound, Figure, Row, Verdict, WrongAnswer
from benchmarks.load import LoadResult
from benchmarks.mcp import tool_call
from benchmarks.payments import sign_payments
from benchmarks.product import RATE, Product
from benchmarks.reads import COMPARED, READS, paths_of
from benchmarks.suites import Run

SETTLING, GIVEN, REST = "settling alone", "the same, given away", "record, REST"
PAYER = "Benchmark payer"
QUICK_PAYMENTS, PAYMENTS = 25, 200
WARM_UP_CALLS = 6


class PaymentAndMcp:
    """Paid, and MCP."""

    name = "doors"
    rows: tuple[str, ...] = ("paid", "mcp")
    is_by_connections = False

    def steps(self, run: Run, wanted: frozenset[str]) -> int:
        """What the progress bar counts."""
        return ("paid" in wanted) * (2 + 3 * run.rounds) + ("mcp" in wanted) * (2 + 2 * run.rounds)

    def measure(self, run: Run, wanted: frozenset[str]) -> Iterator[Row]:
        """The rows. Raises WrongAnswer."""
        if "paid" in wanted:
            yield measure_payment(run)
        if "mcp" in wanted:
            yield measure_mcp(run)


# Paid
def measure_payment(run: Run) -> Row:
    """What of the work for a paid record is not the call that settles it: CPU time of our web server's processes.

    The call alone is made in this process, on the same facilitator and chain.
    """
    product, count = run.product, QUICK_PAYMENTS if run.arguments.quick else PAYMENTS
    key, server = payer_key(), our_server(product)
    run.step("paid: looking for something that is sold")
    path = find_paid_record(server, key)
    run.step("paid: warming up")
    buy(server, path, key=key, payments=sign_payments(product.up, WARM_UP_CALLS * 2))
    measure_settlement(sign_payments(product.up, WARM_UP_CALLS))

    def calls() -> Figure:
        payments = sign_payments(product.up, count)
        return server.cost(partial(buy, server, path, key=key, payments=payments), what=path)

    turns = {
        OURS: calls,
        SETTLING: lambda: measure_settlement(sign_payments(product.up, count)),
        GIVEN: lambda: server.cost(partial(get_free, server, path, times=count), what=path),
    }
    figures = run.run_in_turns("paid", turns)
    whole, alone = figures[OURS].cpu_ms, figures[SETTLING].cpu_ms
    on_top = None if whole is None or alone is None else whole - alone
    run.settings["paid"] = {
        "load": f"{count} payments a round, signed before, one after the other on one connection",
        GIVEN: "by the plan of the benchmark's account: what is answered, without the sale",
        SETTLING: "payments.x402.facilitator_client.settle in this process: the same facilitator, node and chain",
    }
    payload = Verdict(row="paid", of="CPU on top", value=on_top, goal=5, is_maximum=True, unit="ms")
    return Row(name="paid", what="GET /v1/restaurants/{slug}?fields=context", figures=figures, verdicts=(payload,))


def payer_key() -> str:
    """A key of an account that pays list prices and may call as often as it likes: an address alone may not."""
    from django.utils import timezone

    from accounts.models import ApiKey
    from accounts.seed import LOAD_TEST_ALLOWANCE, get_venue
    from payments.models import Plan

    now, place = timezone.now(), get_venue(PAYER, "UTC")
    terms = {"name": PAYER, "tier": "enterprise", "price_factor": 1, "per_minute": RATE}
    if not Plan.objects.filter(account=place.account, **terms).current(now).exists():
        Plan.objects.create(account=place.account, valid_from=now, **terms)
    ends = now + timedelta(hours=12)
    return ApiKey.create(place, name="Benchmark", allowance=LOAD_TEST_ALLOWANCE * 1_000, expires_at=ends).text


def find_paid_record(server: Contender, key: str) -> str:
    """The address of a record around which something is sold. Raises WrongAnswer."""
    headers = {"Authorization": f"Bearer {key}"}
    listed = httpx.get(f"{server.base_url}/v1/restaurants?limit=20", headers=headers).json()
    for each in listed["data"]:
        path = f"/v1/restaurants/{each['slug']}?fields=context"
        if httpx.get(f"{server.base_url}{path}", headers=headers).status_code == 402:
            return path
    raise WrongAnswer("paid: no restaurant has anything around it that is sold.")


def buy(server: Contender, path: str, *, key: str, payments: Sequence[str]) -> LoadResult:
    """Pay for it again and again. Raises WrongAnswer when it was not given, or given without a receipt."""
    waits, began = [], time.perf_counter()
    with closing(http.client.HTTPConnection(HOST, server.port, timeout=30)) as connection:
        for payment in payments:
            asked = time.perf_counter()
            connection.request("GET", path, headers={"Authorization": f"Bearer {key}", "PAYMENT-SIGNATURE": payment})
            response = connection.getresponse()
            body = response.read()
            waits.append(time.perf_counter() - asked)
            if response.status != 200 or not response.headers["PAYMENT-RESPONSE"]:
                raise WrongAnswer(f"paid: {response.status} {body[:300].decode(errors='replace')}")
    return figure_of_waits(waits, time.perf_counter() - began)


def get_free(server: Contender, path: str, *, times: int) -> LoadResult:
    """Ask for it again and again with the key to which it is given. Raises WrongAnswer when it is not."""
    waits, began = [], time.perf_counter()
    with closing(http.client.HTTPConnection(HOST, server.port, timeout=30)) as connection:
        for _ in range(times):
            asked = time.perf_counter()
            connection.request("GET", path, headers=dict(server.headers))
            response = connection.getresponse()
            response.read()
            waits.append(time.perf_counter() - asked)
            if response.status != 200:
                raise WrongAnswer(f"paid: {response.status} for {path} with the key to which it is given")
    return figure_of_waits(waits, time.perf_counter() - began)


def measure_settlement(payments: Sequence[str]) -> Figure:
    """The call alone, with what it costs this process. Raises WrongAnswer when a payment was not settled."""
    from x402.schemas import PaymentRequirements, ResourceInfo

    from payments.x402 import facilitator_client

    asked: list[dict[str, Any]] = []
    for payment in payments:
        given = json.loads(base64.b64decode(payment))
        about = ResourceInfo(url="http://127.0.0.1/", description="", mime_type="application/json")
        wanted = PaymentRequirements.model_validate(given["accepted"])
        payer = given["payload"]["authorization"]["from"].lower()
        asked.append({"payload": given["payload"], "requirement": wanted, "resource": about, "payer": payer})
    waits, began, spent = [], time.perf_counter(), time.process_time()
    for one in asked:
        at = time.perf_counter()
        outcome = facilitator_client.settle(**one)
        waits.append(time.perf_counter() - at)
        if not isinstance(outcome, facilitator_client.Settled):
            raise WrongAnswer(f"paid: the facilitator says {outcome}")
    used, found = time.process_time() - spent, figure_of_waits(waits, time.perf_counter() - began)
    return Figure(
        per_second=found.per_second, p50_ms=found.p50_ms, p99_ms=found.p99_ms, cpu_ms=1000 * used / len(payments)
    )


def figure_of_waits(waits_s: Sequence[float], seconds: float) -> LoadResult:
    """So many answers, all of them right."""
    cuts = quantiles(waits_s, n=100, method="inclusive")
    return LoadResult(requests=len(waits_s), seconds=seconds, p50_ms=1000 * cuts[49], p99_ms=1000 * cuts[98], wrong=0)


# MCP
def measure_mcp(run: Run) -> Row:
    """The same records by a tool and by REST, on the same key."""
    product, load = run.product, run.load
    server, read = our_server(product), READS[0]
    paths = paths_of(read, product)
    messages = [tool_call_request(product, path) for path in paths]
    run.step("mcp: comparing")
    for path in paths[:COMPARED]:
        check_same_content(server, product, path)

    def tools() -> Figure:
        return server.cost(lambda: post_load.repeat_requests(load, server.base_url, messages), what="POST /mcp")

    run.step("mcp: warming up")
    post_load.repeat_requests(load.warm_up_load, server.base_url, messages)
    figures = run.run_in_turns("mcp", {OURS: tools, REST: partial(server.measure, load, paths)})
    run.settings["mcp"] = {REST: "the record row's load on the same server", "message": "tools/call, 2025-11-25"}
    return Row.create("mcp", "tools/call get_restaurant", figures, [Bound(of=REST, gate=0.5, goal=0.7)])


def tool_call_request(product: Product, path: str) -> bytes:
    """The call of the tool that looks up what stands at this path."""
    call = tool_call("get_restaurant", {"slug": path.rpartition("/")[2]}, holds=b"")
    return post_load.request_of(
        product.base_url, call.method, call.path, {**call.headers, **product.headers}, call.body or b""
    )


def check_same_content(server: Contender, product: Product, path: str) -> None:
    """Have both doors tell the same, at the second try at the latest: a place may open in between.

    Raises WrongAnswer.
    """
    call = tool_call("get_restaurant", {"slug": path.rpartition("/")[2]}, holds=b"")
    for last in (False, True):
        answer = httpx.post(
            f"{server.base_url}/mcp", content=call.body, headers={**call.headers, **product.headers}
        ).json()
        payload, expected = answer.get("result", {}).get("structuredContent"), json.loads(server.get(path))
        if payload == expected:
            return
        if last:
            raise WrongAnswer(f"mcp: of {path} the tool says {str(answer)[:300]}, and REST {str(expected)[:300]}")
