"""Deposits over the data API: paid with the booking, returned or kept by the terms, and never lost."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.db import Error as DatabaseError
from django.test import Client, override_settings
from django.utils import timezone

from accounts.lifecycle import closure
from catalogue.bookings import deposits, tables
from catalogue.models import FlowBooking
from framework.languages import format_day
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment, PaymentEvent
from reservations.booking import commands, terms
from reservations.models import AgreedTerms, CancellationTerms, Hold, InvalidTransition, Reservation
from reservations.service import check_in
from tests.catalogue.bookings.deposit_builders import (
    booked,
    code_of,
    deposit_of,
    evening,
    has_hold,
    payment,
    post,
    restaurant,
    send,
    the_payment,
)
from tests.payments.buyer import at_once, signed_by
from tests.payments.facilitators import hangs_up, refuses, serving, settles_and
from tests.payments.signing import client_of
from tests.support import builders as base
from tests.support.wallets import fresh_wallet, transfer_usdc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


def reservation() -> Reservation:
    return Reservation.objects.select_related("venue").get()


def cancel_as_staff() -> None:
    commands.set_status(reservation(), "cancelled", now=timezone.now(), actor="staff:ada@example.com")


def late() -> None:
    """The deadline of free cancellation has passed."""
    AgreedTerms.objects.update(free_until=timezone.now() - timedelta(minutes=1))


def begun(by: timedelta = timedelta(minutes=20)) -> None:
    """The reservation began so long ago."""
    row = reservation()
    moved = timezone.now() - by - row.starts_at
    Reservation.objects.update(starts_at=row.starts_at + moved, ends_at=row.ends_at + moved)


# Paid with the booking
def test_without_a_payment_the_answer_is_the_exact_deposit(wallet: Wallet) -> None:
    place = restaurant()
    answer = post(place, evening())
    body = answer.json()
    assert code_of(answer) == (402, "payment_required")
    assert (body["accepts"][0]["maxAmountRequired"], body["accepts"][0]["scheme"]) == ("20000000", "exact")
    assert answer.headers["x402"].startswith('{"asset":"USDC","amount":"20",')
    assert body["detail"].startswith(
        f"Deposit for a table for 2 on {evening()['date']} at 19:00. The deposit of 20 USDC"
    )
    assert not Reservation.objects.exists()
    assert not Hold.objects.exists()


@pytest.mark.exhaustive
def test_a_paid_deposit_books_the_table_and_is_on_the_booking(wallet: Wallet) -> None:
    place = restaurant()
    record = booked(place, wallet)
    row = the_payment()
    assert record["deposit"] == {"amount": "20", "currency": "USDC", "status": "held", "payment": row.public_id}
    assert (row.state, row.products, row.amount_usdc) == ("delivered", ["deposit"], Decimal(20))
    starts_at = reservation().starts_at
    assert record["cancellation"]["free_until"] == (starts_at - timedelta(hours=24)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert (reservation().status, reservation().tables) == ("confirmed", ["T1"])
    assert not Hold.objects.exists()
    assert send("get", record).json() == record


@pytest.mark.exhaustive
def test_the_same_request_gets_the_same_answer_and_is_charged_once(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body))
    first = post(place, body, headers, key="once")
    again = post(place, body, headers, key="once")
    without_payment = post(place, body, key="once")
    assert [each.status_code for each in (first, again, without_payment)] == [201] * 3
    assert first.content == again.content == without_payment.content
    assert (again["Idempotent-Replayed"], again["X-Receipt"]) == ("true", first["X-Receipt"])
    assert Payment.objects.count() == FlowBooking.objects.count() == 1


@pytest.mark.exhaustive
def test_the_same_payment_under_another_key_books_no_second_table(wallet: Wallet) -> None:
    place, body = restaurant(tables=2), evening()
    headers = payment(wallet, post(place, body))
    first, again = (post(place, body, headers) for _ in range(2))
    assert first.json()["id"] == again.json()["id"]
    assert Reservation.objects.count() == 1


@pytest.mark.exhaustive
def test_a_payment_buys_no_other_table(wallet: Wallet) -> None:
    place, body = restaurant(tables=2), evening()
    headers = payment(wallet, post(place, body))
    post(place, body, headers)
    other = post(place, body | {"time": "21:00"}, headers)
    assert code_of(other) == (402, "payment_already_used")
    assert not has_hold()
    assert Reservation.objects.count() == 1


@pytest.mark.exhaustive
def test_a_tier_a_plan_and_a_surcharge_do_not_change_a_deposit(wallets: Mapping[str, Wallet]) -> None:
    place, body = restaurant(), evening()
    for name in ("pro", "premium", "enterprise"):
        challenge = post(place, body, client=client_of(wallets[name]))
        assert challenge.json()["accepts"][0]["maxAmountRequired"] == "20000000"
        assert challenge.headers["x402"].startswith('{"asset":"USDC","amount":"20",')


@pytest.mark.exhaustive
def test_another_amount_is_refused_and_holds_no_table(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    answer = post(place, body, signed_by(wallet, value=19_999_999))
    assert code_of(answer) == (402, "payment_rejected")
    assert answer.json()["reason"] == "wrong_amount"
    assert not has_hold()
    assert not Payment.objects.exists()


@pytest.mark.exhaustive
def test_a_transaction_of_a_proven_wallet_pays_the_deposit() -> None:
    place, body, wallet = restaurant(), evening(), fresh_wallet()
    client = client_of(wallet)
    sent = transfer_usdc(wallet, settings.PAY_TO, Decimal(20))
    answer = post(place, body, {"X-Payment": sent}, client=client)
    assert answer.status_code == 201
    assert (answer.json()["deposit"]["status"], the_payment().form) == ("held", "tx")


@pytest.mark.exhaustive
def test_a_transaction_without_a_proof_of_the_wallet_is_refund_due_until_its_sender_signs_in() -> None:
    place, body, wallet = restaurant(), evening(), fresh_wallet()
    sent = transfer_usdc(wallet, settings.PAY_TO, Decimal(20))
    answer = post(place, body, {"X-Payment": sent})
    assert (code_of(answer), answer.json()["reason"]) == ((402, "payment_rejected"), "unproven_sender")
    assert not has_hold()
    assert post(place, body, {"X-Payment": sent}, client=client_of(wallet)).status_code == 201


@pytest.mark.exhaustive
def test_where_no_table_is_free_nothing_is_asked_and_nothing_is_settled(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    headers = payment(wallet, post(place, body | {"customer_email": "grace@example.com"}))
    booked(place, wallet, body)
    assert code_of(post(place, body | {"time": "19:30"})) == (409, "slot_full")
    refused = post(place, body | {"customer_email": "grace@example.com"}, headers)
    assert code_of(refused) == (409, "slot_full")
    assert Payment.objects.count() == 1


@pytest.mark.exhaustive
def test_a_time_without_a_deposit_is_free_and_its_payment_is_not_taken(wallet: Wallet) -> None:
    place, body = restaurant(party_from=3), evening()
    answer = post(place, body, signed_by(wallet, value=20_000_000))
    assert (answer.status_code, answer.json()["deposit"], answer.json()["cancellation"]) == (201, None, None)
    assert not Payment.objects.exists()


@pytest.mark.exhaustive
def test_the_availability_shows_the_terms_of_each_time(wallet: Wallet) -> None:
    place, body = restaurant(), evening()
    asked = {"date": body["date"], "party_size": 2}
    slot = Client().get(f"/v1/restaurants/{place.slug}/availability", asked).json()["days"][0]["slots"][8]
    day = datetime.fromisoformat(body["date"])
    until = format_day(day.date() - timedelta(days=1))
    assert slot["state"] == "free"
    assert slot["terms"]["deposit"] == {"amount": "20", "currency": "USDC"}
    assert slot["terms"]["text"] == (
        f"The deposit of 20 USDC is returned when you come, or if you cancel until 19:00 on {until}. If you cancel"
        " later or do not come, the restaurant keeps it."
    )


# Cancelled
@pytest.mark.exhaustive
def test_a_guest_who_cancels_in_time_gets_the_deposit_back(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    cancelled = send("delete", record).json()
    assert (cancelled["status"], cancelled["deposit"]["status"]) == ("cancelled", "refund_due")
    row = the_payment()
    assert (row.state, row.error, row.amount_usdc) == ("refund_due", "deposit_returned", Decimal(20))
    assert cancelled["cancellation"]["text"] == "The deposit of 20 USDC is returned to you."
    assert send("delete", record).json() == cancelled


@pytest.mark.exhaustive
def test_a_guest_who_cancels_late_does_not(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    late()
    cancelled = send("delete", record).json()
    assert (cancelled["status"], cancelled["deposit"]["status"]) == ("cancelled", "kept")
    assert cancelled["cancellation"]["text"] == "The restaurant keeps the deposit of 20 USDC."
    assert the_payment().state == "delivered"


@pytest.mark.exhaustive
def test_a_cancellation_by_the_venue_returns_the_deposit_however_late(wallet: Wallet) -> None:
    place = restaurant()
    record = booked(place, wallet)
    late()
    api = base.client(place.listing.venue)
    assert api.delete(f"/api/v2/reservations/{reservation().public_id}").status_code == 200
    assert send("get", record).json()["deposit"]["status"] == "refund_due"


def undo(former: dict[str, Any], version: int) -> None:
    commands.undo_cancellation(
        reservation(), former, version=version, mail=None, now=timezone.now(), actor="staff:ada@example.com"
    )


def cancelled_by_staff() -> tuple[dict[str, Any], int]:
    """The fields before the cancellation, and the version after it."""
    row = reservation()
    former = {name: getattr(row, name) for name in commands.CANCELLATION_FIELDS}
    cancel_as_staff()
    return former, reservation().version


@pytest.mark.exhaustive
def test_staff_who_undo_their_cancellation_hold_the_deposit_again(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    former, version = cancelled_by_staff()
    assert send("get", record).json()["deposit"]["status"] == "refund_due"
    undo(former, version)
    assert send("get", record).json() == record
    assert (the_payment().state, reservation().tables) == ("delivered", ["T1"])
    assert send("delete", record).json()["deposit"]["status"] == "refund_due"


@pytest.mark.exhaustive
def test_a_cancellation_whose_deposit_was_refunded_cannot_be_undone(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    former, version = cancelled_by_staff()
    assert transitions.record_refund(the_payment().pk, tx_hash="0x" + "a" * 64, by="ada", now=timezone.now())
    with pytest.raises(InvalidTransition, match="The deposit was refunded in the meantime"):
        undo(former, version)
    answer = send("get", record).json()
    assert (answer["status"], answer["deposit"]["status"]) == ("cancelled", "refunded")


@pytest.mark.exhaustive
def test_a_patch_of_the_management_api_returns_it_too(wallet: Wallet) -> None:
    place = restaurant()
    record = booked(place, wallet)
    late()
    api = base.client(place.listing.venue)
    address = f"/api/v2/reservations/{reservation().public_id}"
    assert api.patch(address, {"status": "cancelled"}, content_type="application/json").status_code == 200
    assert send("get", record).json()["deposit"]["status"] == "refund_due"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("is_late", "status"), [(False, "refund_due"), (True, "kept")])
def test_the_page_of_the_guest_cancels_by_the_same_terms(wallet: Wallet, is_late: bool, status: str) -> None:
    record = booked(restaurant(), wallet)
    if is_late:
        late()
    page = record["manage_url"].removeprefix("http://127.0.0.1:8000")
    assert b"The deposit of 20 USDC is returned when you come" in Client().get(page).content
    assert Client().post(f"{page}/cancel").status_code == 302
    assert send("get", record).json()["deposit"]["status"] == status


@pytest.mark.exhaustive
def test_a_no_show_loses_the_deposit_and_who_comes_gets_it_back(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    begun()
    check_in.record_arrival(reservation(), Reservation.Arrival.NO_SHOW, actor="staff:ada", now=timezone.now())
    assert send("get", record).json()["deposit"]["status"] == "kept"
    check_in.record_arrival(reservation(), Reservation.Arrival.ARRIVED, actor="staff:ada", now=timezone.now())
    assert send("get", record).json()["deposit"]["status"] == "refund_due"
    assert the_payment().error == "deposit_returned"


@pytest.mark.exhaustive
def test_staff_return_a_kept_deposit_by_hand_once(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    with pytest.raises(terms.NoDepositKept):
        terms.return_kept(reservation(), actor="staff:ada", now=timezone.now())
    late()
    send("delete", record)
    for _ in range(2):
        terms.return_kept(reservation(), actor="staff:ada", now=timezone.now())
    assert send("get", record).json()["deposit"]["status"] == "refund_due"
    assert PaymentEvent.objects.filter(after="refund_due").count() == 1


@pytest.mark.exhaustive
def test_a_party_for_which_nothing_was_recorded_gets_the_deposit_back_a_day_later(wallet: Wallet) -> None:
    booked(restaurant(), wallet)
    begun(timedelta(hours=23, minutes=30))
    deposits.reconcile(now=timezone.now())
    assert the_payment().state == "delivered"
    deposits.reconcile(now=timezone.now() + timedelta(hours=3))
    assert (the_payment().state, AgreedTerms.objects.get().deposit_state) == ("refund_due", "returned")


@pytest.mark.exhaustive
def test_later_changes_of_the_terms_do_not_change_a_booking(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    CancellationTerms.objects.update(free_hours=168, deposit_usdc=Decimal(99))
    assert send("get", record).json() == record
    assert send("delete", record).json()["deposit"]["status"] == "refund_due"


# Changed
@pytest.mark.exhaustive
def test_a_change_of_time_keeps_the_deposit_and_moves_the_deadline(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    moved = send("patch", record, time="20:00").json()
    assert moved["deposit"] == record["deposit"]
    was, now = (datetime.fromisoformat(each["cancellation"]["free_until"]) for each in (record, moved))
    assert now - was == timedelta(hours=1)
    fewer = send("patch", record, party_size=1).json()
    assert fewer["deposit"] == record["deposit"]


@pytest.mark.exhaustive
def test_a_change_after_the_deadline_gives_no_new_one(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    late()
    assert send("patch", record, time="20:00").status_code == 200
    assert send("delete", record).json()["deposit"]["status"] == "kept"


@pytest.mark.exhaustive
def test_a_change_by_the_venue_gives_a_new_deadline(wallet: Wallet) -> None:
    place = restaurant()
    record = booked(place, wallet)
    late()
    address = f"/api/v2/reservations/{reservation().public_id}"
    answer = base.client(place.listing.venue).patch(address, {"time": "20:00"}, content_type="application/json")
    assert answer.status_code == 200
    assert send("delete", record).json()["deposit"]["status"] == "refund_due"


@pytest.mark.exhaustive
def test_a_change_to_a_higher_deposit_is_refused_and_says_what_to_do(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    answer = send("patch", record, party_size=3)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (409, "deposit_required", "time")
    assert error["deposit"] == {"amount": "30", "currency": "USDC"}
    assert error["message"] == (
        "This time asks for a deposit of 30 USDC, and 20 USDC were paid. A change cannot be paid for: cancel this"
        " booking and book again, or call the restaurant."
    )
    assert send("get", record).json() == record


# Faults
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
        late()
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
    begun()

    def no_show() -> None:
        check_in.record_arrival(reservation(), Reservation.Arrival.NO_SHOW, actor="staff:ada", now=timezone.now())

    calls = iter([no_show, cancel_as_staff])
    at_once(2, lambda: next(calls)())
    # Staff who cancel return the deposit, also of a party that was a no-show a moment before.
    assert (deposit_of(record).status, reservation().status) == ("refund_due", "cancelled")
    assert PaymentEvent.objects.filter(after="refund_due").count() == 1


@pytest.mark.exhaustive
def test_a_deposit_whose_money_the_chain_shows_only_later_goes_back_then(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    row = the_payment()
    Payment.objects.update(block=None, error="The chain does not know of it.")
    send("delete", record)
    assert the_payment().state == "delivered"
    deposits.reconcile(now=timezone.now())
    assert the_payment().state == "delivered"
    Payment.objects.update(block=row.block, error="")
    deposits.reconcile(now=timezone.now())
    assert the_payment().state == "refund_due"


@pytest.mark.exhaustive
def test_a_refund_that_was_sent_is_shown_on_the_booking(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    send("delete", record)
    assert transitions.record_refund(the_payment().pk, tx_hash="0x" + "a" * 64, by="ada", now=timezone.now())
    assert send("get", record).json()["deposit"]["status"] == "refunded"


@pytest.mark.exhaustive
def test_the_back_office_lists_deposits_with_their_sums(wallets: Mapping[str, Wallet]) -> None:
    place = restaurant(tables=2)
    first, second = (
        booked(place, wallets[name], evening(customer_email=f"{name}@example.com")) for name in ("free", "pro")
    )
    staff = base.staff()
    page = staff.get("/admin/catalogue/deposit/").content.decode()
    assert "Deposits: 40 USDC held, 0 USDC kept and payable to venues" in page
    late()
    send("delete", first)
    page = staff.get("/admin/catalogue/deposit/?deposit=kept").content.decode()
    assert "Deposits: 20 USDC held, 20 USDC kept and payable to venues" in page
    assert first["reservation_code"] in page
    assert second["reservation_code"] not in page


@pytest.mark.exhaustive
def test_an_account_that_holds_a_deposit_is_not_closed(wallet: Wallet) -> None:
    place = restaurant()
    record, account = booked(place, wallet), place.listing.venue.account
    with pytest.raises(
        closure.CannotClose, match=r"Reservations with a deposit of the guest: 1\. Cancel them first\."
    ):
        closure.close_account(account, name=account.name, now=timezone.now())
    send("delete", record)
    closure.close_account(account, name=account.name, now=timezone.now())
