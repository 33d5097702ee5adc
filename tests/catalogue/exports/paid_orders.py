"""Exports in tests that are paid for: ordered, bought, failed, and orders whose process has died."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from x402.http import x402HTTPClientSync

from catalogue.exports.jobs import finalize, partitioning
from catalogue.models import Export
from payments.devchain.wallets import Wallet as Key
from payments.models import Payment
from tests.catalogue.exports.export_builders import EXPORTS, RESTAURANTS
from tests.payments import buyer as payments_buyer

State = Payment.State
PRICE = Decimal("0.5")
Spent = Callable[[], Decimal]


def ask(client: Client, headers: Mapping[str, str] | None = None, **wanted: Any) -> Any:
    return client.post(
        EXPORTS, {**RESTAURANTS, **wanted}, content_type="application/json", headers=dict(headers or {})
    )


def payment(client: Client, key: Key, **wanted: Any) -> Mapping[str, str]:
    """What the official client makes of the price that it is told."""
    result = ask(client, **wanted)
    assert result.status_code == 402, result.content
    headers, _ = x402HTTPClientSync(payments_buyer.client_of(key)).handle_402_response(
        dict(result.headers), result.content, EXPORTS
    )
    return headers


def bought(client: Client, key: Key, **wanted: Any) -> Export:
    """An export that was paid for."""
    answer = ask(client, payment(client, key, **wanted), **wanted)
    assert answer.status_code == 202, answer.content
    answer.close()
    return Export.objects.known_as(answer.json()["id"]).get()


def paid_for(export: Export) -> Payment:
    export.refresh_from_db()
    assert export.payment is not None
    return export.payment


def code(answer: Any) -> tuple[int, str]:
    """Status and code of a refusal, in whichever form."""
    error = answer.json()["error"]
    return answer.status_code, error if isinstance(error, str) else error["code"]


def failed(export: Export) -> Export:
    partitioning.start_export(export, now=timezone.now())
    finalize.fail_export(export, "Part 1 could not be written: the disk is full.", now=timezone.now())
    export.refresh_from_db()
    return export


def seen(export: Export) -> None:
    """The chain has shown the money of an export, as the sweeper of payments sees it."""
    Payment.objects.filter(export=export).update(block=1)


def died(buyer: Client, headers: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Export:
    """The order of a process that was killed after the settlement, before it wrote that it has arrived for this."""

    def killed(*_: Any) -> bool:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("catalogue.exports.requests.payment_state.queue_export", killed)
        with pytest.raises(SystemExit):
            ask(buyer, headers)
    export = Export.objects.get()
    assert (export.status, Payment.objects.get().state) == ("awaiting_payment", State.SETTLED)
    return export
