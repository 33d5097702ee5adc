"""Deposits over the data API when a part fails or several act at once: no money is lost or taken twice."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import Error as DatabaseError
from django.test import Client, override_settings
from django.utils import timezone

from catalogue.bookings import deposits, tables
from catalogue.models import FlowBooking
from payments.devchain.wallets import Wallet
from payments.models import Payment, PaymentEvent
from reservations.booking import commands
from reservations.models import Hold, Reservation
from reservations.service import check_in
from tests.catalogue.bookings.deposit_builders import (
    begin_reservation,
    booked,
    cancel_as_staff,
    code_of,
    deposit_of,
    evening,
    has_hold,
    pass_deadline,
    payment,
    post,
    reservation,
    restaurant,
    send,
    the_payment,
)
from tests.payments.buyer import at_once
from tests.payments.facilitators import hangs_up, refuses, serving, settles_and

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


@pytest.mark.exhaustive
def test_a_facilitator_that_refuses_leaves_no_hold_and_no_payment(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    with serving(refuses("insufficient_funds")) as facilitator, override_settings(FACILITATOR_URL=facilitator.url):
        assert code_of(post(place, body, headers)) == (402, "payment_rejected")
    assert not has_hold()
    assert not Payment.objects.exists()


@pytest.mark.exhaustive
def test_while_the_settlement_is_unknown_the_table_stays_held_and_the_same_payment_gets_it(
    wallet: Wallet,
) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    with serving(settles_and(hangs_up)) as facilitator, override_settings(FACILITATOR_URL=facilitator.url):
        assert code_of(post(place, body, headers)) == (503, "settlement_pending")
    assert has_hold()
    other = body | {"customer_email": "grace@example.com"}
    assert code_of(post(place, other)) == (409, "slot_full")
    answer = post(place, body, headers)
    assert (answer.status_code, answer.json()["deposit"]["status"]) == (201, "held")
    assert not has_hold()


def died(place: Any, body: Any, headers: Any, monkeypatch: pytest.MonkeyPatch, *, key: str = "dies") -> None:
    """A request whose process is killed after the settlement, before it books."""

    def killed(*_: Any, **__: Any) -> None:
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr("catalogue.bookings.deposits.book_paid", killed)
        with pytest.raises(SystemExit):
            post(place, body, headers, key=key)
    assert (the_payment().state, FlowBooking.objects.count()) == ("settled", 0)


@pytest.mark.exhaustive
def test_money_of_a_request_that_died_gets_the_table_by_the_same_request(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    died(place, body, headers, monkeypatch)
    # The table is still held for it.
    assert code_of(post(place, body | {"customer_email": "grace@example.com"})) == (409, "slot_full")
    assert post(place, body, headers, key="dies").status_code == 201
    deposits.reconcile(now=timezone.now() + timedelta(minutes=16))
    assert the_payment().state == "delivered"


@pytest.mark.exhaustive
def test_the_request_repeated_without_its_payment_gets_the_table_by_it(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    died(place, body, headers, monkeypatch)
    assert post(place, body, key="dies").status_code == 201
    assert Payment.objects.count() == 1


@pytest.mark.exhaustive
def test_a_second_payment_for_the_same_request_is_not_taken(
    wallets: Mapping[str, Wallet], monkeypatch: pytest.MonkeyPatch
) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallets["free"], post(place, body))
    second = payment(wallets["pro"], post(place, body))
    died(place, body, headers, monkeypatch)
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert code_of(post(place, body, second, key="dies", client=elsewhere)) == (503, "settlement_pending")
    assert Payment.objects.count() == 1
    # Its presenter needs no second payment either.
    assert post(place, body, second, key="dies").status_code == 201
    assert Payment.objects.get().payer == wallets["free"].address


def test_money_of_a_request_that_died_is_refund_due_after_fifteen_minutes(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    died(place, body, headers, monkeypatch)
    deposits.reconcile(now=timezone.now() + timedelta(minutes=14))
    assert the_payment().state == "settled"
    deposits.reconcile(now=timezone.now() + timedelta(minutes=16))
    assert (the_payment().state, the_payment().error) == ("refund_due", "not_delivered")
    again = post(place, body, headers, key="dies")
    assert code_of(again) == (402, "payment_already_used")
    assert again.json()["refund"] == the_payment().public_id
    assert not Reservation.objects.exists()


@pytest.mark.exhaustive
def test_money_that_gets_no_table_any_more_is_refund_due_at_once(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    died(place, body, headers, monkeypatch)
    Hold.objects.all().delete()
    commands.book(
        place.listing.venue,
        now=timezone.now(),
        actor="staff:ada",
        customer_name="Grace",
        customer_email="grace@example.com",
        day=datetime.fromisoformat(body["date"]).date(),
        at=datetime.fromisoformat(f"{body['date']}T19:00").time(),
        party_size=2,
    )
    answer = post(place, body, headers, key="dies")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["refund"]) == (409, "slot_full", the_payment().public_id)
    assert error["message"].endswith(" The deposit goes back to you.")
    assert (the_payment().state, FlowBooking.objects.count()) == ("refund_due", 0)


@pytest.mark.exhaustive
def test_a_database_error_while_booking_leaves_the_payment_for_a_repetition(
    wallet: Wallet, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))

    def broken(*_: Any, **__: Any) -> bool:
        raise DatabaseError("gone")

    with monkeypatch.context() as patch:
        patch.setattr(tables, "deliver", broken)
        assert code_of(post(place, body, headers, key="broken")) == (503, "settlement_pending")
    assert (the_payment().state, Reservation.objects.count()) == ("settled", 0)
    assert post(place, body, headers, key="broken").status_code == 201


def test_of_the_sweep_and_the_booking_at_once_one_takes_place(wallet: Wallet, monkeypatch: pytest.MonkeyPatch) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    original = tables.deliver

    def overtaken(payment: Any, *, now: datetime) -> bool:
        # The sweep commits before the booking does.
        at_once(1, lambda: deposits.reconcile(now=timezone.now() + timedelta(minutes=16)))
        return original(payment, now=now)

    with monkeypatch.context() as patch:
        patch.setattr(tables, "deliver", overtaken)
        answer = post(place, body, headers)
    assert code_of(answer) == (409, "deposit_required")
    assert answer.json()["error"]["refund"] == the_payment().public_id
    assert (the_payment().state, Reservation.objects.count()) == ("refund_due", 0)


@pytest.mark.exhaustive
def test_of_eight_copies_at_once_one_books_and_one_is_charged(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    answers: list[Any] = at_once(8, lambda: post(place, body, headers, key="copies"))
    codes = {answer.status_code for answer in answers}
    assert 201 in codes
    assert codes <= {201, 400, 429, 503}
    assert FlowBooking.objects.count() == Payment.objects.count() == 1
    assert post(place, body, headers, key="copies").status_code == 201


@pytest.mark.exhaustive
def test_of_two_payers_at_once_for_the_last_table_one_books_and_nothing_is_lost(
    wallets: Mapping[str, Wallet],
) -> None:
    place = restaurant()
    bodies = {name: evening(customer_email=f"{name}@example.com") for name in ("free", "pro")}
    paid = {name: payment(wallets[name], post(place, body)) for name, body in bodies.items()}
    names = iter(["free", "pro"])

    def book() -> Any:
        name = next(names)
        return post(place, bodies[name], paid[name])

    answers: list[Any] = at_once(2, book)
    assert sorted(answer.status_code for answer in answers) == [201, 409]
    assert Payment.objects.count() == Reservation.objects.count() == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("is_late", [False, True])
def test_of_two_cancellations_and_a_no_show_at_once_there_is_one_outcome(wallet: Wallet, is_late: bool) -> None:
    record = booked(restaurant(), wallet)
    if is_late:
        pass_deadline()
    calls = iter([lambda: send("delete", record), lambda: send("delete", record), cancel_as_staff])
    at_once(3, lambda: next(calls)())
    deposit = deposit_of(record)
    assert PaymentEvent.objects.filter(after="refund_due").count() <= 1
    assert (deposit.status == "kept") == (the_payment().state == "delivered")
    assert reservation().status == "cancelled"
    assert not reservation().seatings.exists()


@pytest.mark.exhaustive
def test_a_no_show_and_a_staff_cancellation_at_once_have_one_outcome(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    begin_reservation()

    def no_show() -> None:
        check_in.record_arrival(reservation(), Reservation.Arrival.NO_SHOW, actor="staff:ada", now=timezone.now())

    calls = iter([no_show, cancel_as_staff])
    at_once(2, lambda: next(calls)())
    # Staff who cancel return the deposit, also of a party that was a no-show a moment before.
    assert (deposit_of(record).status, reservation().status) == ("refund_due", "cancelled")
    assert PaymentEvent.objects.filter(after="refund_due").count() == 1
