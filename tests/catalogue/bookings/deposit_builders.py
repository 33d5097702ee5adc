"""A restaurant that asks for a deposit, and bookings there over REST and MCP that are paid for."""

import itertools
from collections.abc import Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Q, Sum
from django.test import Client
from django.utils import timezone
from x402.http import x402HTTPClientSync

from catalogue.models import Deposit, Restaurant
from payments.devchain.wallets import Wallet
from payments.models import Payment
from reservations.booking import commands
from reservations.models import AgreedTerms, CancellationTerms, Hold, Reservation
from tests.catalogue import builders
from tests.mcp.client import call
from tests.payments import buyer
from tests.support import builders as base
from tests.support.wallets import usdc_balance

DEPOSIT = Decimal(20)
keys = itertools.count(1)


def restaurant(slug: str = "fiskebar", *, tables: int = 1, **asked: Any) -> Restaurant:
    """A restaurant with tables for four and dinner from 17:00 to 22:00, which asks 10 USDC of each guest.

    Cancellation is free until 24 hours before, if nothing else is said.
    """
    place = builders.listing(builders.restaurant(slug=slug, name=slug.title())).restaurant
    for number in range(2, tables + 1):
        base.table(place.listing.venue, f"T{number}")
    terms(place, **asked)
    return place


def terms(place: Restaurant, **asked: Any) -> CancellationTerms:
    given: dict[str, Any] = {"free_hours": 24, "deposit_usdc": Decimal(10)}
    return CancellationTerms.objects.create(venue=place.listing.venue, **(given | asked))


def evening(days: int = 3, at: str = "19:00", **changes: Any) -> dict[str, Any]:
    """The body of a booking for two, in so many days."""
    day = (timezone.now() + timedelta(days=days)).date().isoformat()
    guest = {"customer_name": "Ada Lovelace", "customer_email": "ada@example.com"}
    return {"date": day, "time": at, "party_size": 2, **guest, **changes}


def post(
    place: Restaurant,
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    *,
    key: str | None = None,
    client: Client | None = None,
) -> Any:
    """Book over REST, under a new idempotency key if none is given."""
    return (client or Client()).post(
        f"/v1/restaurants/{place.slug}/bookings",
        dict(body),
        content_type="application/json",
        headers={"Idempotency-Key": key or f"key-{next(keys)}", **(headers or {})},
    )


def payment(wallet: Wallet, challenge: Any) -> dict[str, str]:
    """The header that pays what this answer asks for, as the official client makes it."""
    assert challenge.status_code == 402, challenge.content
    client = buyer.client_of(wallet)
    client.set_spend_controls(False)
    url = "http://127.0.0.1:8000/v1/restaurants/fiskebar/bookings"
    headers, _ = x402HTTPClientSync(client).handle_402_response(dict(challenge.headers), challenge.content, url)
    return dict(headers)


def booked(place: Restaurant, wallet: Wallet, body: Mapping[str, Any] | None = None, **rest: Any) -> dict[str, Any]:
    """The record of a booking over REST whose deposit this wallet has paid."""
    asked = body or evening()
    answer = post(place, asked, payment(wallet, post(place, asked)), **rest)
    assert answer.status_code == 201, answer.content
    answer.close()
    record: dict[str, Any] = answer.json()
    return record


def send(method: str, record: Mapping[str, Any], **changes: Any) -> Any:
    """Call the booking with its token."""
    return getattr(Client(), method)(
        f"/v1/bookings/{record['id']}",
        changes or None,
        content_type="application/json",
        headers={"X-Manage-Token": record["manage_token"]},
    )


def tool_payment(wallet: Wallet, result: Any) -> dict[str, Any]:
    """The payment of version 2 for what a tool has asked for."""
    from x402.schemas import PaymentPayload, PaymentRequired

    client = buyer.client_of(wallet)
    client.set_spend_controls(False)
    payload = client.create_payment_payload(PaymentRequired.model_validate(result["structuredContent"]))
    assert isinstance(payload, PaymentPayload)
    made: dict[str, Any] = payload.model_dump(mode="json", by_alias=True, exclude_none=True)
    return made


def tool(place: Restaurant, body: Mapping[str, Any], *, meta: Mapping[str, Any] | None = None, **rest: Any) -> Any:
    """The result of book_table."""
    return call(Client(), "book_table", meta=meta, slug=place.slug, **body, **rest)


def code_of(answer: Any) -> tuple[int, str]:
    """Status and code of a refusal, in whichever form."""
    error = answer.json()["error"]
    return answer.status_code, error if isinstance(error, str) else error["code"]


def the_payment() -> Payment:
    return Payment.objects.get()


def deposit_of(record: Mapping[str, Any]) -> Deposit:
    found = Deposit.objects.select_related("payment", "booking__reservation__agreed_terms")
    return next(each for each in found if each.booking.public_id == record["id"])


def problems(*, arrived: Decimal) -> list[str]:
    """What is wrong between book, ledger and chain: nobody may be out of a table and out of money.

    Call it when nothing is under way. `arrived` is what the chain has brought our address.
    """
    wrong = []
    if ledger_sum() != arrived:
        wrong.append(f"{arrived} have arrived, and the ledger has {ledger_sum()}")
    for payment in Payment.objects.filter(products__contains=[Payment.DEPOSIT]):
        deposit = Deposit.objects.filter(payment=payment).select_related("booking__reservation__agreed_terms").first()
        reservation = deposit.booking.reservation if deposit else None
        decided = reservation.agreed_terms.deposit_state if reservation else "none"
        goes_back = payment.state in (Payment.State.REFUND_DUE, Payment.State.REFUNDED)
        name = f"payment {payment.public_id}, {payment.state} {payment.error}, deposit {decided}"
        if payment.state in (Payment.State.CLAIMED, Payment.State.UNKNOWN, Payment.State.SETTLED):
            wrong.append(f"{name}: nobody has decided")
        elif payment.state == Payment.State.DELIVERED and decided not in ("held", "kept"):
            wrong.append(f"{name}: out of money without a reason")
        elif goes_back and decided in ("held", "kept"):
            wrong.append(f"{name}: it goes back while the deposit counts")
        if reservation and decided == "held" and reservation.status != Reservation.Status.CONFIRMED:
            wrong.append(f"{name}: held for a reservation that is {reservation.status}")
        if reservation and decided == "held" and reservation.arrival is None and not reservation.seatings.exists():
            wrong.append(f"{name}: out of a table")
    unpaid = Reservation.objects.filter(
        Q(agreed_terms__deposit_state="held"), Q(flow_booking=None) | Q(flow_booking__deposit=None)
    )
    wrong += [f"{each.code} has a held deposit without a payment" for each in unpaid]
    return wrong


def ledger_sum() -> Decimal:
    """What has arrived, as the ledger says."""
    paid = Payment.objects.filter(state__in=Payment.PAID)
    return paid.aggregate(total=Sum("amount_usdc"))["total"] or Decimal(0)


def has_hold() -> bool:
    return Hold.objects.active(now=timezone.now()).exists()


def balance() -> Decimal:
    return usdc_balance(settings.PAY_TO)


def reservation() -> Reservation:
    return Reservation.objects.select_related("venue").get()


def cancel_as_staff() -> None:
    commands.set_status(reservation(), "cancelled", now=timezone.now(), actor="staff:ada@example.com")


def pass_deadline() -> None:
    """Put the deadline of free cancellation a minute back."""
    AgreedTerms.objects.update(free_until=timezone.now() - timedelta(minutes=1))


def begin_reservation(by: timedelta = timedelta(minutes=20)) -> None:
    """Move the reservation to where it began so long ago."""
    row = reservation()
    moved = timezone.now() - by - row.starts_at
    Reservation.objects.update(starts_at=row.starts_at + moved, ends_at=row.ends_at + moved)
