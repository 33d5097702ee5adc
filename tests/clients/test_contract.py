"""The clients, built as packages and installed into clean environments, do on a running product what they promise.

tests/clients/programs has a program in each language, with the same functions; a test runs one of them with its input
as JSON, and compares what it prints.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from pytest_django import Settings

from accounts.webhooks import dispatcher, endpoints
from tests.accounts.webhook_receivers import receiving
from tests.clients.unreliable_proxy import unreliable_proxy
from tests.support import builders
from tests.support.live_stack import Up, ledger, manage

CLIENTS = Path(settings.BASE_DIR) / "clients"
PROGRAMS = Path(__file__).parent / "programs"
# The address that the calls of each language to the data API seem to come from: their limits are apart.
ADDRESSES = {"python": "203.0.113.61", "typescript": "203.0.113.62"}
LANGUAGES = [
    pytest.param("python", marks=pytest.mark.stack),
    pytest.param("typescript", marks=pytest.mark.outside),
]
# A venue with tables, a dish and a key.
PREPARE = """
from tests.support import builders
venue = builders.venue("Clients")
builders.floor(venue)
builders.menu(venue, margherita="9.50")
print(builders.key(venue).text)
"""
SMALL_KEY = """
from accounts.models import Venue
from tests.support import builders
print(builders.key(Venue.objects.get(name="Clients"), allowance=3).text)
"""


@dataclass(frozen=True)
class Venue:
    """A venue of the product that has only what these tests add to it."""

    base_url: str
    key: str


@dataclass(frozen=True)
class Client:
    """An installed client: the command of its program, and the language."""

    command: list[str]
    language: str

    def run(self, name: str, **given: Any) -> Any:
        """What a function of the program prints."""
        words = [*self.command, name]
        done = subprocess.run(words, input=json.dumps(given), capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def run(*words: str | Path, cwd: Path | None = None) -> str:
    """The output of a command that succeeds."""
    # A build or an installation that saw our environment could use what is installed in it.
    env = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def documented(language: str) -> str:
    """The program in the documentation."""
    page = (CLIENTS.parent / "docs" / "clients.md").read_text()
    found = re.search(rf"```{language}\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(scope="session")
def python_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that has the built wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("python client")
    run("uv", "build", "--quiet", "--wheel", "--out-dir", folder, CLIENTS / "python")
    (wheel,) = folder.glob("*.whl")
    run("uv", "venv", "--quiet", "--python", sys.executable, folder / "env")
    python = folder / "env" / "bin" / "python"
    run("uv", "pip", "install", "--quiet", "--python", python, f"tablewire-client[x402] @ {wheel.as_uri()}")
    return python


@pytest.fixture(scope="session")
def typescript_client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The compiled program, in a folder that has the packed client and what it depends on."""
    folder = tmp_path_factory.mktemp("typescript client")
    source, env = folder / "source" / "clients" / "typescript", folder / "env"
    ignored = shutil.ignore_patterns("node_modules", "dist", "generated")
    shutil.copytree(CLIENTS / "typescript", source, ignore=ignored)
    shutil.copytree(CLIENTS.parent / "docs" / "openapi", folder / "source" / "docs" / "openapi")
    npm = (shutil.which("npm") or pytest.skip("npm is not installed"), "--silent", "--no-audit", "--no-fund")
    run(*npm, "ci", "--ignore-scripts", cwd=source)
    run(*npm, "pack", "--pack-destination", folder, cwd=source)
    (archive,) = folder.glob("*.tgz")
    env.mkdir()
    package = json.loads((source / "package.json").read_text())
    # viem is held back, as later ones pin a package that not every registry has.
    (env / "package.json").write_text(json.dumps({"type": "module", "overrides": package["overrides"]}))
    peers = [f"{name}@{package['devDependencies'][name]}" for name in package["peerDependencies"]]
    run(*npm, "install", "--ignore-scripts", archive, *peers, "@types/node@20", cwd=env)
    shutil.copy(PROGRAMS / "contract.ts", env)
    (env / "documented.ts").write_text(documented("typescript"))
    options = ["--strict", "--target", "ES2022", "--module", "NodeNext", "--types", "node", "--skipLibCheck"]
    run(source / "node_modules" / ".bin" / "tsc", *options, "contract.ts", "documented.ts", cwd=env)
    return env / "contract.js"


@pytest.fixture
def client(request: pytest.FixtureRequest, language: str) -> Client:
    """The client in the language of the test."""
    installed: Path = request.getfixturevalue(f"{language}_client")
    if language == "typescript":
        return Client(["node", str(installed)], language)
    return Client([str(installed), str(PROGRAMS / "contract.py")], language)


@pytest.fixture(scope="module")
def venue(up: Up) -> Venue:
    """The venue, which all tests here use."""
    return Venue(up.record["base_url"], printed_by(up, PREPARE))


def printed_by(up: Up, code: str) -> str:
    """The last line that the code prints in a shell of the product."""
    done = manage(up.state_dir, "shell", "--no-imports", "-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_orders_are_placed_and_listed_over_pages(client: Client, venue: Venue) -> None:
    before = client.run("count", base_url=venue.base_url, key=venue.key)["orders"]
    found = client.run("orders", base_url=venue.base_url, key=venue.key)
    placed = found["placed"]
    assert len(set(placed)) == 5
    assert found["listed"][:5] == found["listed_async"][:5] == placed[::-1]
    assert len(found["listed"]) == len(found["listed_async"]) == before + 5
    assert found["pages"] == [2] * ((before + 5) // 2) + [1] * ((before + 5) % 2)
    assert found["totals"][:5] == ["47.50", "38.00", "28.50", "19.00", "9.50"]
    assert (found["status"], found["is_later"]) == ("completed", True)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_free_table_is_booked(client: Client, venue: Venue) -> None:
    day = (datetime.now(tz=UTC).date() + timedelta(days=30)).isoformat()
    found = client.run("table", base_url=venue.base_url, key=venue.key, date=day)
    assert found == {"status": "confirmed", "date": day, "time": found["free_at"], "free_at": found["free_at"]}


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_order_whose_answers_are_lost_is_placed_once(client: Client, venue: Venue) -> None:
    before = client.run("count", base_url=venue.base_url, key=venue.key)["orders"]
    with unreliable_proxy(venue.base_url, "lose", "lose") as proxy:
        found = client.run("place", base_url=proxy.url, key=venue.key)
    assert [(sent.method, sent.path) for sent in proxy.sent] == [("POST", "/api/v2/orders")] * 3
    assert None not in {sent.idempotency_key for sent in proxy.sent}
    assert len({sent.idempotency_key for sent in proxy.sent}) == 1
    after = client.run("count", base_url=venue.base_url, key=venue.key)
    assert (after["orders"], after["newest"]) == (before + 1, found["id"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_retry_waits_for_the_time_of_retry_after(client: Client, venue: Venue) -> None:
    with unreliable_proxy(venue.base_url, "refuse") as proxy:
        client.run("place", base_url=proxy.url, key=venue.key)
    first, second = proxy.sent
    assert first.idempotency_key == second.idempotency_key
    assert 1 <= second.at_s - first.at_s < 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_requests_that_are_not_safe_to_repeat_are_sent_once(client: Client, venue: Venue) -> None:
    with unreliable_proxy(venue.base_url, "refuse") as proxy:
        found = client.run("sell_out", base_url=proxy.url, key=venue.key)
    assert [(sent.method, sent.idempotency_key) for sent in proxy.sent] == [("PATCH", None)]
    assert found == {"status": 503, "code": "unavailable", "param": None, "has_request_id": True}


@pytest.mark.stack
@pytest.mark.parametrize("language", ["python"])
def test_errors_are_retried_if_they_pass_and_the_request_is_safe_to_repeat(client: Client) -> None:
    in_an_hour, now = format_datetime(datetime.now(tz=UTC) + timedelta(hours=1)), format_datetime(datetime.now(tz=UTC))
    expected = {
        ("GET", "", 200, "1"): False,
        ("GET", "", 404, ""): False,
        ("GET", "", 400, "1"): True,
        ("GET", "", 429, ""): True,
        ("GET", "", 429, "3600"): False,
        ("GET", "", 429, in_an_hour): False,
        ("GET", "", 429, now): True,
        ("GET", "", 503, ""): True,
        ("POST", "", 503, "1"): False,
        ("POST", "a-key", 503, "1"): True,
        ("PATCH", "", 503, ""): False,
        ("DELETE", "", 503, ""): True,
    }
    found = client.run("retried", base_url="http://127.0.0.1:1", key="rk_x", tries=list(expected))
    assert found["retried"] == list(expected.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_used_up_allowance_is_an_error_that_says_how_long_to_wait(client: Client, venue: Venue, up: Up) -> None:
    found = client.run("exhaust", base_url=venue.base_url, key=printed_by(up, SMALL_KEY))
    assert 0 < found.pop("retry_after_s") <= 3600
    expected = {"calls": 3, "status": 429, "code": "rate_limit_exceeded", "param": None, "has_request_id": True}
    assert found == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_refusal_is_an_error_with_code_and_parameter(client: Client, venue: Venue) -> None:
    found = client.run("refused", base_url=venue.base_url, key=venue.key)
    assert found["invalid"] == {
        "status": 400,
        "code": "invalid_request",
        "param": "items[0].quantity",
        "has_request_id": True,
        "details": ["items[0].quantity"],
    }
    assert found["missing"] == {"status": 404, "code": "not_found", "param": None, "has_request_id": True}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_webhook_is_verified_and_a_forged_one_refused(client: Client, settings: Settings) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    kitchen = builders.venue()
    with receiving() as receiver:
        _, secret = endpoints.create(kitchen, url=receiver.url)
        placed = builders.client(kitchen).post("/api/v1/orders", builders.order_body(), "application/json").json()
        dispatcher.run(clock=timezone.now, claim_s=8.0, timeout_s=15.0)
        (delivery,) = receiver.received
    body, headers = delivery.body.decode(), dict(delivery.headers)
    found = client.run("webhook", base_url="http://127.0.0.1:1", key="rk_x", body=body, headers=headers, secret=secret)
    assert found["id"] == headers["webhook-id"]
    assert (found["type"], found["order"]) == ("order.created", placed["id"])
    assert found["timestamp"][:19] == placed["created_at"][:19]
    assert found["forged"] == ["refused"] * 3


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_price_within_the_limit_is_paid_and_none_above_it(client: Client, venue: Venue, up: Up) -> None:
    wallet: Mapping[str, str] = next(each for each in up.record["wallets"] if each["name"] == "free")
    before = ledger(up)
    found = client.run(
        "paid",
        base_url=venue.base_url,
        key=venue.key,
        address=ADDRESSES[client.language],
        private_key=wallet["private_key"],
    )
    receipt = json.loads(base64.b64decode(found["receipt"]))
    assert (receipt["success"], receipt["payer"].lower()) == (True, wallet["address"].lower())
    assert found["hits"] == 2
    assert found["entries"] > 0
    # Photos cost 0.003.
    assert found["dear"] == "not paid"
    assert found["unpaid"] == {"status": 402, "code": "payment_required", "param": None, "has_request_id": True}
    assert ledger(up) - before == Decimal("0.002")


@pytest.mark.stack
def test_the_hand_written_part_and_its_use_are_typed(python_client: Path, tmp_path: Path) -> None:
    modules = sorted((CLIENTS / "python" / "src" / "tablewire_client").glob("[!_]*.py"))
    names = ["contract", "documented", *(f"tablewire_client.{module.stem}" for module in modules)]
    assert len(names) == 9
    shutil.copy(PROGRAMS / "contract.py", tmp_path)
    (tmp_path / "documented.py").write_text(documented("python"))
    mypy = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--python-executable", str(python_client)]
    # From the folder of the programs, which are modules for mypy then.
    printed = run(*mypy, *(word for name in names for word in ("-m", name)), cwd=tmp_path)
    assert printed == "Success: no issues found in 9 source files\n"
