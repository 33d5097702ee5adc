"""Exports with a price on the dashboard: ordered first and paid later, by a demo wallet too, and cancelled unpaid."""

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Venue
from catalogue.models import Export
from payments.devchain.wallets import Wallet as Key
from payments.models import Payment, Wallet
from payments.wallets import demo_wallets
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.paid_orders import PRICE
from tests.payments.facilitators import hangs_up, serving
from tests.support import builders, users
from tests.support.wallets import usdc_balance

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]
ORDER = {"dataset": "restaurants", "format": "jsonl.gz", "status": "open"}
PAY = "Pay 0.5 USDC with the demo wallet Enterprise"


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@pytest.fixture
def key(wallets: Mapping[str, Key], settings: Settings) -> Key:
    settings.DEMO_WALLET_KEYS = {name: wallet.private_key for name, wallet in wallets.items()}
    return wallets["enterprise"]


@pytest.fixture
def owner(ledger_matches_chain: None, venue: Venue, key: Key) -> Client:
    """The owner of an account with the demo wallet of the Enterprise tier, linked on the page."""
    owner = users.member(venue)
    linked = owner.post(f"/dashboard/{venue.public_id}/data/wallets/new", {"demo": "enterprise"})
    assert builders.messages_of(linked) == ["The demo wallet was linked."]
    assert Wallet.objects.get().account == venue.account
    return owner


def at(venue: Venue, rest: str = "") -> str:
    return f"/dashboard/{venue.public_id}/exports{rest}"


def page_text(answer: Any) -> str:
    text = re.sub(r'<div id="pay-texts" hidden>.*?</div>', "", answer.content.decode(), flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


@pytest.mark.exhaustive
def test_an_order_is_paid_later_by_a_demo_wallet_and_once(venue: Venue, owner: Client, key: Key) -> None:
    before = usdc_balance(key.address)
    assert "Order and pay 0.5 USDC with the demo wallet Enterprise" in page_text(owner.get(at(venue, "/new"), ORDER))
    ordered = owner.post(at(venue, "/new"), ORDER)
    assert builders.messages_of(ordered) == ["The export was ordered. Pay it within an hour."]
    export = Export.objects.get()
    assert (export.status, ordered["Location"]) == ("awaiting_payment", at(venue, f"/{export.public_id}"))
    page = owner.get(ordered["Location"])
    assert (PAY in page_text(page), "Cost not paid" in page_text(page)) == (True, True)
    body = re.search(r'data-body="([^"]+)"', page.content.decode())
    assert body is not None
    # The browser wallet sends this order, which is the same one.
    wishes = unescape(body[1])
    assert '"filter": {\n    "status": "open"\n  }' in wishes
    paid = owner.post(at(venue, f"/{export.public_id}/pay"))
    assert builders.messages_of(paid)[-1] == "The export was paid. Its files appear here when they are ready."
    export.refresh_from_db()
    payment = Payment.objects.get()
    assert (export.status, export.payment) == ("queued", payment)
    assert (payment.state, payment.amount_usdc, payment.payer) == ("delivered", PRICE, key.address)
    again = owner.post(at(venue, f"/{export.public_id}/pay"))
    assert builders.messages_of(again)[-1] == "This export awaits no payment. Nothing was charged."
    assert PAY not in page_text(owner.get(ordered["Location"]))
    assert before - usdc_balance(key.address) == PRICE


def test_an_unknown_outcome_is_followed_and_offers_no_second_payment(
    venue: Venue, owner: Client, settings: Settings
) -> None:
    with serving(hangs_up) as facilitator:
        settings.FACILITATOR_URL = facilitator.url
        answer = owner.post(at(venue, "/new"), {**ORDER, "demo": "1"})
        assert builders.messages_of(answer)[-1].startswith("Whether this payment has been settled is not known yet.")
        page = owner.get(answer["Location"])
        assert "Do not pay again: this page follows it." in page_text(page)
        assert (PAY in page_text(page), 'hx-trigger="every 2s"' in page.content.decode()) == (False, True)
        refused = owner.post(answer["Location"] + "/pay")
        assert "Another payment for this export is being settled." in builders.messages_of(refused)[-1]
        assert (len(facilitator.asked), Payment.objects.get().state) == (1, "unknown")


def test_an_unpaid_order_is_cancelled_on_the_page(venue: Venue, owner: Client) -> None:
    owner.post(at(venue, "/new"), ORDER)
    export = Export.objects.get()
    address = at(venue, f"/{export.public_id}")
    assert "Cancel" in page_text(owner.get(address))
    assert "Nothing has been paid yet. A payment that still arrives is refunded." in page_text(
        owner.get(f"{address}/cancel")
    )
    owner.post(f"{address}/cancel")
    export.refresh_from_db()
    assert export.status == "cancelled"
    refused = owner.post(f"{address}/pay")
    assert builders.messages_of(refused)[-1] == "This export awaits no payment. Nothing was charged."
    assert Payment.objects.count() == 0


def test_a_refused_payment_leaves_the_order(venue: Venue, owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    owner.post(at(venue, "/new"), ORDER)
    monkeypatch.setattr(demo_wallets, "VALID_FOR_S", 1)
    refused = owner.post(at(venue, f"/{Export.objects.get().public_id}/pay"))
    assert builders.messages_of(refused)[-1] == "The payment's time is over: sign a new one. Nothing was charged."
    assert Export.objects.get().status == "awaiting_payment"


@pytest.mark.exhaustive
def test_without_the_embedded_chain_no_demo_wallet_is_offered(venue: Venue, owner: Client, settings: Settings) -> None:
    owner.post(at(venue, "/new"), ORDER)
    settings.DEMO_WALLET_KEYS = {}
    address = at(venue, f"/{Export.objects.get().public_id}")
    assert "with the demo wallet" not in page_text(owner.get(address))
    assert "with the demo wallet" not in page_text(owner.get(at(venue, "/new"), ORDER))
    assert "Demo wallets" not in page_text(owner.get(f"/dashboard/{venue.public_id}/data/wallets/new"))
    assert owner.post(f"{address}/pay").status_code == 404
    linked = owner.post(f"/dashboard/{venue.public_id}/data/wallets/new", {"demo": "pro"})
    assert (linked.status_code, Wallet.objects.filter(account__isnull=False).count()) == (400, 1)
