"""How many paid calls a running `manage.py up` answers in a second, what each costs, and where its time goes.

    uv run --group benchmarks python -m benchmarks.payments --state-dir .state

Payments are signed before the clock starts, by a demo wallet, and each buys one answer on the development chain. The
callers are processes of this machine and take their share of its cores, as facilitator, node and PostgreSQL do too,
so absolute figures say as much about the machine as about us; hence the ratios, all of the same run: a 402 to a free
record, and our local check of a payment to the bare recovery of its signer. CPU is what each part has used, by its
processes. Trips to the chain and statements are counted in this process, with the same code, warm.

It spends a few USDC of a demo wallet, and leaves the payments in the ledger.
"""

import argparse
import base64
import itertools
import json
import multiprocessing
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import django
import httpx
import psutil
from rich.console import Console
from rich.table import Table

from framework.state_directory import read_up_record

PRICE = 2000
# As /v1 counts free calls by address, each call comes from one of its own.
addresses = (f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}" for number in itertools.count())
PARTS = {
    "web process": ("web",),
    "facilitator": ("facilitator",),
    "node": ("chain",),
    "PostgreSQL": ("postgres", "postgresql"),
    "Valkey": ("valkey",),
}


class UnexpectedResponse(Exception):
    """A call was not answered as it should be, so its figure would mean nothing."""


@dataclass
class Figures:
    """What was measured: calls a second by the number of callers, milliseconds, and counts for each paid call."""

    paid_per_s: dict[str, float] = field(default_factory=dict)
    cpu_ms: dict[str, float] = field(default_factory=dict)
    split_ms: dict[str, float] = field(default_factory=dict)
    counts: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)


# Payments
def sign_payments(up: Mapping[str, Any], count: int) -> list[str]:
    """So many headers that pay for `context`, by the demo wallet of the free tier, good for an hour."""
    from coincurve import PrivateKey

    from payments.chain import evm
    from payments.chain.networks import payment_network

    wallet = next(each for each in up["wallets"] if each["name"] == "free")
    key, payer, pay_to = PrivateKey.from_hex(wallet["private_key"][2:]), wallet["address"], up["chain"]["pay_to"]
    accepted = {
        "scheme": "exact",
        "network": up["chain"]["network"],
        "asset": up["chain"]["usdc"],
        "amount": str(PRICE),
        "payTo": pay_to,
        "maxTimeoutSeconds": 60,
        "extra": {"name": payment_network().domain_name, "version": payment_network().domain_version},
    }
    until, made = int(time.time()) + 3600, []
    for _ in range(count):
        nonce = os.urandom(32)
        digest = evm.hash_transfer_authorization(
            payment_network(),
            sender=payer.lower(),
            to=pay_to.lower(),
            value=PRICE,
            valid_after=0,
            valid_before=until,
            nonce=nonce,
        )
        signature = key.sign_recoverable(digest, hasher=None)
        authorization = {
            "from": payer,
            "to": pay_to,
            "value": str(PRICE),
            "validAfter": "0",
            "validBefore": str(until),
            "nonce": f"0x{nonce.hex()}",
        }
        payload = {"signature": f"0x{signature[:64].hex()}{signature[64] + 27:02x}", "authorization": authorization}
        payment = {"x402Version": 2, "payload": payload, "accepted": accepted}
        made.append(base64.b64encode(json.dumps(payment).encode()).decode())
    return made


def send(connection: HTTPConnection, path: str, status: int, address: str, payment: str = "") -> float:
    """Make the call and return how many seconds it took. Raises Wrong."""
    headers = {"X-Forwarded-For": address} | ({"PAYMENT-SIGNATURE": payment} if payment else {})
    began = time.perf_counter()
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    content = response.read()
    if response.status != status:
        raise UnexpectedResponse(f"{path}: {response.status} {content.decode(errors='replace')[:300]}")
    return time.perf_counter() - began


def caller(base_url: str, calls: Sequence[tuple[str, int, str, str]], took: Any) -> None:
    """One caller: makes its calls, one after the other."""
    with closing(HTTPConnection(urlsplit(base_url).netloc, timeout=30)) as connection:
        took.put([send(connection, *call) for call in calls])


def measure_rate(base_url: str, calls: Sequence[tuple[str, int, str, str]], callers: int) -> tuple[float, list[float]]:
    """Calls a second of so many callers together, and how long each call took. Raises Wrong when one has failed."""
    context = multiprocessing.get_context("fork")
    took = context.Queue()
    every = [context.Process(target=caller, args=(base_url, calls[n::callers], took)) for n in range(callers)]
    began = time.perf_counter()
    for one in every:
        one.start()
    found = [took.get(timeout=300) for _ in every]
    seconds = time.perf_counter() - began
    for one in every:
        one.join()
    if any(one.exitcode for one in every):
        raise UnexpectedResponse("a caller has failed")
    return len(calls) / seconds, list(itertools.chain.from_iterable(found))


def cpu_s(pids: Mapping[str, int | None]) -> dict[str, float]:
    """The seconds of CPU that each part of the product has used until now."""
    found = {}
    for part, names in PARTS.items():
        total = 0.0
        for pid in (pids[name] for name in names if pids.get(name)):
            top = psutil.Process(pid)
            for process in [top, *top.children(recursive=True)]:
                # A child that ends at this moment is counted below.
                with suppress(psutil.NoSuchProcess):
                    times = process.cpu_times()
                    total += times.user + times.system
            # Those that have ended meanwhile.
            total += top.cpu_times().children_user + top.cpu_times().children_system
        found[part] = total
    return found


# Inside this process
class CountingProxy(ThreadingHTTPServer):
    """Stands in front of a server and counts what it is asked, and for how long."""

    daemon_threads = True

    def __init__(self, url: str) -> None:
        super().__init__(("127.0.0.1", 0), ProxyHandler)
        self.real = url
        self.seconds: list[float] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.server_port}"


class ProxyHandler(BaseHTTPRequestHandler):
    """Asks the real one."""

    server: CountingProxy

    def do_POST(self) -> None:
        """One question."""
        content = self.rfile.read(int(self.headers["Content-Length"]))
        began = time.perf_counter()
        path = "" if self.path == "/" else self.path
        answer = httpx.post(self.server.real + path, content=content, headers={"Content-Type": "application/json"})
        self.server.seconds.append(time.perf_counter() - began)
        self.send_response(answer.status_code)
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def time_ms(times: int, work: Callable[[int], object]) -> float:
    """The median of so many, one after the other."""
    took = []
    for number in range(times):
        began = time.perf_counter()
        work(number)
        took.append(time.perf_counter() - began)
    return 1000 * statistics.median(took)


def check_payments(payments: Sequence[str], figures: Figures) -> None:
    """Our local check (read, match, verify) beside the bare recovery of the signer."""
    from coincurve import PublicKey

    from payments.chain.networks import payment_network
    from payments.x402.proofs import Authorization, parse_proof

    def check(number: int) -> None:
        proof = parse_proof({"PAYMENT-SIGNATURE": payments[number]})
        if not isinstance(proof, Authorization) or not proof.is_signed() or proof.network != payment_network().caip2:
            raise UnexpectedResponse("a payment of ours is not good")

    proofs = [parse_proof({"PAYMENT-SIGNATURE": payment}) for payment in payments]
    bare = [
        (proof.signature[:64] + bytes([proof.signature[64] - 27]), proof.digest)
        for proof in proofs
        if isinstance(proof, Authorization)
    ]
    figures.split_ms["local check"] = time_ms(len(payments), check)
    recover = time_ms(len(payments), lambda number: PublicKey.from_signature_and_message(*bare[number], hasher=None))
    figures.split_ms["bare recovery of the signer"] = recover
    figures.ratios["local check to bare recovery"] = figures.split_ms["local check"] / recover


def count_statements(path: str, payments: Sequence[str], figures: Figures, up: Mapping[str, Any]) -> None:
    """Trips and statements of one paid call, warm, and what its statements and its settlement take."""
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    node, facilitator = CountingProxy(settings.RPC_URL), CountingProxy(settings.FACILITATOR_URL)
    settings.RPC_URL, settings.FACILITATOR_URL = node.url, facilitator.url
    host = urlsplit(up["base_url"]).hostname or "127.0.0.1"
    statements: list[list[Mapping[str, str]]] = []
    for number, payment in enumerate(payments):
        client = Client(headers={"host": host, "payment-signature": payment}, REMOTE_ADDR=next(addresses))
        if number == 2:
            # What a process and the ledger remember, they know by now.
            node.seconds.clear()
            facilitator.seconds.clear()
        with CaptureQueriesContext(connection) as captured:
            answer = client.get(path)
        if answer.status_code != 200:
            raise UnexpectedResponse(f"{answer.status_code} in this process: {answer.content.decode()[:300]}")
        statements.append(list(captured.captured_queries))
    warm = statements[2:]
    figures.counts["trips of ours to the chain"] = len(node.seconds) / len(warm)
    figures.counts["trips to the facilitator"] = len(facilitator.seconds) / len(warm)
    figures.counts["statements"] = statistics.mean(len(each) for each in warm)
    writes = [[query for query in each if query["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")] for each in warm]
    figures.counts["of them writes"] = statistics.mean(len(each) for each in writes)
    claims = [1000 * float(query["time"]) for each in writes for query in each if query["sql"].startswith("INSERT")]
    figures.split_ms["claim"] = statistics.median(claims)
    figures.split_ms["settle"] = 1000 * statistics.median(facilitator.seconds)
    node.shutdown()
    facilitator.shutdown()


# All of it
def measure_http(up: Mapping[str, Any], path: str, words: argparse.Namespace, figures: Figures) -> None:
    """Rates of paid calls, of 402s and of free records, and the CPU of the paid ones."""
    base_url, free = up["base_url"], path.partition("?")[0]
    for callers in (1, 2, 8):
        payments = sign_payments(up, words.payments)
        calls = [(path, 200, next(addresses), payment) for payment in payments]
        before = cpu_s(up["pids"])
        per_s, took = measure_rate(base_url, calls, callers)
        used = {part: 1000 * (now - before[part]) / len(calls) for part, now in cpu_s(up["pids"]).items()}
        figures.paid_per_s[str(callers)] = per_s
        if callers == 2:
            figures.cpu_ms = used
        if callers == 1:
            figures.split_ms["whole paid call"] = 1000 * statistics.median(took)
    rates: dict[str, list[float]] = {"402": [], "free": []}
    for _ in range(words.rounds):
        for name, asked, status in (("402", path, 402), ("free", free, 200)):
            calls = [(asked, status, next(addresses), "") for _ in range(words.payments)]
            per_s, took = measure_rate(base_url, calls, 2)
            rates[name].append(per_s)
            figures.split_ms[f"whole {name} answer"] = 1000 * statistics.median(took)
    figures.ratios["402s a second to free records a second"] = statistics.median(rates["402"]) / statistics.median(
        rates["free"]
    )


def format_rows(figures: Figures) -> Iterator[tuple[str, str]]:
    """The table."""
    for callers, per_s in figures.paid_per_s.items():
        yield f"paid calls a second, {callers} callers", f"{per_s:.1f}"
    for part, used in figures.cpu_ms.items():
        yield f"CPU of a paid call, {part}", f"{used:.2f} ms"
    for name, took in figures.split_ms.items():
        yield name, f"{took:.3f} ms"
    for name, count in figures.counts.items():
        yield f"{name}, a paid call", f"{count:.1f}"
    for name, ratio in figures.ratios.items():
        yield name, f"{ratio:.2f}"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--state-dir", type=Path, default=Path(".state"), help="that of the running `manage.py up`")
    parser.add_argument("--payments", type=int, default=100, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the figures into this file too")
    words = parser.parse_args()
    up = read_up_record(words.state_dir)
    if up is None:
        parser.error(f"nothing runs in {words.state_dir}: `TRUSTED_PROXIES=1 manage.py up --state-dir ...` first")
    os.environ |= {
        "TABLEWIRE_STATE_DIR": str(words.state_dir),
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "TRUSTED_PROXIES": "0",
    }
    django.setup()
    figures = Figures()
    found = httpx.get(f"{up['base_url']}/v1/restaurants?limit=20", headers={"X-Forwarded-For": next(addresses)}).json()
    paths = [f"/v1/restaurants/{each['slug']}?fields=context" for each in found["data"]]
    with closing(HTTPConnection(urlsplit(up["base_url"]).netloc, timeout=30)) as connection:
        for path in paths:
            try:
                send(connection, path, 402, next(addresses))
            except UnexpectedResponse:
                continue
            break
        else:
            parser.error("no restaurant has anything around it that is sold")
    check_payments(sign_payments(up, 500), figures)
    measure_http(up, path, words, figures)
    count_statements(path, sign_payments(up, 12), figures, up)
    table = Table("what", "figure")
    for row in format_rows(figures):
        table.add_row(*row)
    Console().print(table)
    if words.json:
        words.json.write_text(json.dumps(asdict(figures), indent=2))


if __name__ == "__main__":
    main()
