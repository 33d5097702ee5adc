"""Paid answers that prove themselves, over REST and MCP, on a real chain with a real facilitator."""

import hashlib
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from pytest_django import Settings
from x402.http import x402HTTPClientSync

from catalogue.models import Restaurant
from payments.devchain.wallets import Wallet
from payments.models import Payment
from payments.x402.signing_keys import build_did_document
from tests.catalogue import builders
from tests.mcp.client import call, paid, price_of
from tests.payments.buyer import client_of
from tests.payments.receipts import VERIFIER, program, read_header, verify

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]

RECORD = "/v1/restaurants/noma"


@pytest.fixture(autouse=True)
def _noma(prices: None) -> None:
    """A restaurant with reviews and a park."""
    day = timedelta(days=1)
    place = builders.restaurant(slug="noma", created_at=timezone.now() - day, updated_at=timezone.now() - day)
    builders.landmark("Tivoli Gardens", "Tivoli", kind="park", market="copenhagen")
    builders.review(place, stars=5, text="The oysters were superb.")


def buy(client: Client, path: str, wallet: Wallet, *, again: int = 0) -> list[Any]:
    """The answers to a request that is paid for, and repeated so many times with the same payment."""
    asked = client.get(path)
    headers, _ = x402HTTPClientSync(client_of(wallet)).handle_402_response(dict(asked.headers), asked.content, path)
    answers = [client.get(path, headers=headers) for _ in range(1 + again)]
    assert [answer.status_code for answer in answers] == [200] * (1 + again)
    return answers


@pytest.mark.parametrize("form", ["eip712", "jws"])
def test_a_paid_answer_proves_what_was_answered_and_a_repeated_one_has_the_same_receipt(
    client: Client, wallets: Mapping[str, Wallet], settings: Settings, form: str
) -> None:
    settings.RECEIPT_FORMAT = form
    first, again = buy(client, f"{RECORD}?fields=core,context", wallets["pro"], again=1)
    payment = Payment.objects.get()
    assert payment.settled_at is not None
    said = verify(first)
    assert (said["payment"], said["transaction"]) == (payment.public_id, payment.tx_hash)
    assert said["sha256"] == hashlib.sha256(first.content).hexdigest()
    assert said["request"] == payment.purchase
    around = {entry["source"] for entry in first.json()["context"]["entries"]}
    assert said["sources"] == sorted(around | {line["source"] for line in first.json()["attribution"]})
    assert verify(again)["sha256"] == hashlib.sha256(again.content).hexdigest()
    assert again["PAYMENT-RESPONSE"] == first["PAYMENT-RESPONSE"]


def test_an_answer_about_a_past_moment_is_given_again_byte_for_byte_after_the_restaurant_has_changed(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    at = f"{timezone.now() - timedelta(minutes=1):%Y-%m-%dT%H:%M:%S.%fZ}"
    path = f"{RECORD}?at={at}"
    (first,) = buy(client, path, wallets["premium"])
    assert verify(first)["at"] == at
    Restaurant.objects.filter(slug="noma").update(phone="+4532155656", updated_at=timezone.now())
    assert client.get(RECORD).json()["phone"] == "+4532155656"
    (later,) = buy(client, path, wallets["premium"])
    assert later.content == first.content
    first_said, later_said = verify(first), verify(later)
    assert later_said["sha256"] == first_said["sha256"]
    assert later_said["transaction"] != first_said["transaction"]


@pytest.mark.exhaustive
def test_the_version_of_a_statement_leads_to_the_fields_that_were_answered_although_a_change_was_committed_late(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    begun, sold = threading.Event(), threading.Event()
    before = Restaurant.objects.get(slug="noma").version

    def change() -> None:
        with transaction.atomic():
            # Its version is valid from now on, and nobody sees it before it is committed.
            Restaurant.objects.filter(slug="noma").update(phone="+4532155656")
            begun.set()
            sold.wait(20)
        connection.close()

    thread = threading.Thread(target=change)
    thread.start()
    assert begun.wait(20)
    (bought,) = buy(client, f"{RECORD}?fields=core,context", wallets["premium"])
    sold.set()
    thread.join()
    said = verify(bought)
    assert said["restaurantVersion"] == before
    # The moment selects the change, which was made before it.
    (late,) = buy(client, f"{RECORD}?at={said['at']}", wallets["premium"])
    assert (late.json()["phone"], verify(late)["restaurantVersion"]) == ("+4532155656", before + 1)
    (listed,) = buy(client, f"{RECORD}/history", wallets["premium"])
    (valid_from,) = (row["valid_from"] for row in listed.json()["data"] if row["version"] == before)
    (then,) = buy(client, f"{RECORD}?at={valid_from}", wallets["premium"])
    assert then.json()["phone"] == bought.json()["phone"] != "+4532155656"
    assert verify(then)["restaurantVersion"] == before
    assert verify(listed)["restaurantVersion"] is None


def test_the_moment_of_a_statement_leads_to_the_fields_that_were_answered(
    client: Client, wallets: Mapping[str, Wallet]
) -> None:
    (bought,) = buy(client, f"{RECORD}?fields=core,context", wallets["premium"])
    at = verify(bought)["at"]
    Restaurant.objects.filter(slug="noma").update(phone="+4532155656", updated_at=timezone.now())
    (then,) = buy(client, f"{RECORD}?at={at}", wallets["premium"])
    answered = {name: value for name, value in bought.json().items() if name in then.json()}
    assert len(answered) > 25
    assert then.json() | {"flow_offer": None} == answered | {"flow_offer": None}


@pytest.mark.parametrize("form", ["eip712", "jws"])
def test_a_paid_tool_call_proves_itself_with_its_arguments_and_text(
    client: Client, wallets: Mapping[str, Wallet], settings: Settings, form: str
) -> None:
    settings.RECEIPT_FORMAT = form
    asked = price_of(call(client, "list_reviews", slug="noma"))
    assert asked.extensions is not None
    (offer,) = asked.extensions["offer-receipt"]["info"]["offers"]
    assert (offer["format"], offer["acceptIndex"]) == (form, 0)
    result = paid(client, wallets["pro"], "list_reviews", slug="noma")
    meta, text = result["_meta"], result["content"][0]["text"].encode()
    settled, statement = meta["x402/payment-response"], meta["tablewire/statement"]
    # The notice, which is added to the result of a tool, is in the digest.
    assert text.startswith(b'{"notice":')
    said = VERIFIER.verify(settings.PUBLIC_BASE_URL, settled, statement, text, build_did_document())
    assert (said["method"], said["url"]) == ("tools/call", "mcp://tool/list_reviews?slug=noma")
    assert said["sha256"] == hashlib.sha256(text).hexdigest()


def test_a_key_that_cannot_sign_fails_no_payment(
    client: Client, wallets: Mapping[str, Wallet], settings: Settings
) -> None:
    settings.RECEIPT_KEYS = ("0" * 64,)
    (answer,) = buy(client, f"{RECORD}?fields=context", wallets["pro"])
    assert "Receipt-Statement" not in answer
    assert "extensions" not in read_header(answer["PAYMENT-RESPONSE"])
    assert Payment.objects.get().state == "delivered"


def test_the_verifier_asks_the_chain_of_the_payment_only(
    client: Client, wallets: Mapping[str, Wallet], settings: Settings
) -> None:
    (answer,) = buy(client, f"{RECORD}?fields=context", wallets["pro"])
    said = verify(answer)
    VERIFIER.verify_on_chain(said, settings.RPC_URL)
    with pytest.raises(ValueError, match="the node is of another network"):
        VERIFIER.verify_on_chain({**said, "network": "eip155:8453"}, settings.RPC_URL)


@pytest.mark.exhaustive
def test_the_verifier_runs_alone_with_the_library_that_it_names(
    client: Client, wallets: Mapping[str, Wallet], settings: Settings, tmp_path: Path
) -> None:
    uv = shutil.which("uv") or pytest.skip("uv is not installed: it makes the clean interpreter")
    (answer,) = buy(client, f"{RECORD}?fields=context", wallets["pro"])
    lines = [f"{name}: {value}" for name, value in answer.headers.items()]
    (tmp_path / "headers").write_text("\r\n".join(["HTTP/1.1 200 OK", *lines, ""]))
    (tmp_path / "body").write_bytes(answer.content)
    (tmp_path / "did.json").write_text(json.dumps(build_did_document()))
    (tmp_path / "verify_receipt.py").write_text(program())
    words = [uv, "run", "--no-project", "--with", "eth-account", "python", "-I", "verify_receipt.py"]
    words += [settings.PUBLIC_BASE_URL, "headers", "body", "--keys", "did.json", "--rpc", settings.RPC_URL]
    env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=120)

    done = run()
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == verify(answer)
    (tmp_path / "body").write_bytes(answer.content.replace(b"Tivoli", b"Tivoly"))
    assert "the body is another" in run().stderr
