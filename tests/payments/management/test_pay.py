"""`manage.py pay` on a running product: each form, the payer's own price, and repeated requests."""

import itertools
import json
import secrets
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from django.core.management import CommandError, call_command

from config.management.commands import pay as pay_command
from tests.support.live_stack import Up

places = itertools.count()


def address(up: Up, fields: str = "context") -> str:
    """The path of a restaurant that no other test of this file buys."""
    # From an address of its own: the command asks from this machine's, which may ask ten times a minute.
    query = f"{up.record['base_url']}/v1/restaurants?market=copenhagen&sort=reviews&limit=5"
    listed = httpx.get(query, headers={"X-Forwarded-For": f"203.0.113.{next(places) % 250}"}).json()["data"]
    return f"/v1/restaurants/{listed[next(places) % len(listed)]['slug']}?fields=core,{fields}"


def pay(up: Up, *words: str) -> dict[str, Any]:
    """Return the JSON output of the command."""
    out = StringIO()
    call_command("pay", *words, "--json", "--state-dir", str(up.state_dir), stdout=out)
    content: dict[str, Any] = json.loads(out.getvalue())
    return content


def refused(up: Up, *words: str) -> str:
    """Return the message of the failed command."""
    with pytest.raises(CommandError) as caught:
        call_command("pay", *words, "--state-dir", str(up.state_dir))
    return str(caught.value)


def row(up: Up, transaction: str) -> tuple[Any, ...]:
    """Form, amount, tier and name of the payment in this transaction."""
    with psycopg.connect(up.record["database_url"]) as database:
        query = "SELECT form, amount_usdc, tier, payment_identifier FROM payments_payment WHERE tx_hash = %s"
        found = database.execute(query, [transaction]).fetchone()
    assert found is not None
    return found


@pytest.mark.stack
def test_each_form_buys_the_same(up: Up) -> None:
    for form in ("v2", "v1", "tx"):
        content = pay(up, address(up), "--wallet", "pro", "--sign-in", "--form", form)
        assert content["body"]["context"]["entries"], form
        assert content["status"] == 200
        assert row(up, content["transaction"]) == (form, Decimal(content["challenge"]["amount"]), "pro", "")


@pytest.mark.stack
def test_the_receipt_of_a_transfer_reads_the_answer_again_and_nothing_is_paid(up: Up) -> None:
    path = address(up)
    bought = pay(up, path, "--wallet", "pro", "--sign-in", "--form", "tx")
    again = pay(up, path, "--transaction", bought["transaction"], "--receipt", bought["receipt"])
    assert (again["body"]["context"], again["challenge"]) == (bought["body"]["context"], None)


@pytest.mark.stack
def test_a_wallet_that_signs_in_pays_the_price_of_its_tier(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    path = address(up, "reviews")
    call_command("pay", path, "--wallet", "premium", "--sign-in", "--state-dir", str(up.state_dir))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("signed in as 0x")
    assert lines[0].endswith(", tier premium")
    (transaction,) = (line.split()[-1] for line in lines if line.startswith("    transaction "))
    _, amount, tier, _ = row(up, transaction)
    assert (amount < Decimal("0.004"), tier) == (True, "premium")


@pytest.mark.stack
def test_a_payment_has_an_identifier(up: Up) -> None:
    name = f"order_{secrets.token_hex(8)}"
    content = pay(up, address(up), "--wallet", "pro", "--sign-in", "--identifier", name)
    assert row(up, content["transaction"])[3] == name


@pytest.mark.stack
def test_errors_come_before_payment(up: Up) -> None:
    path = address(up, "reviews")
    assert "--identifier is 16 to 128" in refused(up, path, "--identifier", "short")
    assert "goes with --form v2" in refused(up, path, "--identifier", 20 * "a", "--form", "v1")


@pytest.mark.stack
def test_too_low_a_tier_is_refused_with_the_required_tier(up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(up, address(up, "reviews"), "--wallet", "free").startswith("403: This is sold from the pro tier on")
    assert "    sold from tier pro on" in capsys.readouterr().out.splitlines()


@pytest.mark.stack
def test_payment_proofs_are_sent_to_no_other_host(up: Up) -> None:
    for elsewhere in ("http://127.0.0.1:1/v1/restaurants", "https://example.com/v1/restaurants"):
        assert "proofs are sent to no other host" in refused(up, elsewhere, "--sign-in")
    assert "must be 0 or more" in refused(up, "/v1/restaurants", "--timeout=-5")


def test_timeouts_are_reported_as_json(tmp_path: Path) -> None:
    wallet = {"name": "pro", "address": f"0x{1:040x}", "private_key": f"0x{1:064x}"}
    content = {"base_url": "http://127.0.0.1:1", "chain": {"rpc_url": "http://127.0.0.1:1"}, "wallets": [wallet]}
    (tmp_path / "up.json").write_text(json.dumps(content))
    out = StringIO()
    with pytest.raises(CommandError, match="does not answer"):
        call_command("pay", "/v1/restaurants", "--json", "--state-dir", str(tmp_path), stdout=out)
    text = json.loads(out.getvalue())
    assert (text["status"], "refused" in text["error"]) == (None, True)


def test_a_page_of_another_site_is_answered_with_one_line() -> None:
    assert pay_command.error_message("<html>\n<h1>Bad\n gateway</h1></html>") == "Bad gateway"


@pytest.mark.stack
def test_an_export_is_ordered_with_a_body(up: Up) -> None:
    content = pay(up, "/v1/exports", "--wallet", "enterprise", "--sign-in", "--body", '{"dataset": "landmarks"}')
    # While one is under way it is shown for nothing.
    assert content["status"] == 202
    assert content["challenge"] is None or content["challenge"]["amount"] == "0.1"
    assert content["body"]["dataset"] == "landmarks"


@pytest.mark.stack
def test_a_body_is_json(up: Up) -> None:
    with pytest.raises(CommandError, match="is no JSON"):
        pay(up, "/v1/exports", "--body", "{")
