"""Deposits over the data API: paid with the booking, returned or kept by the terms, and never lost."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.utils import timezone

from accounts.lifecycle import closure
from catalogue.bookings import deposits
from catalogue.models import FlowBooking
from framework.languages import format_day
from payments.devchain.wallets import Wallet
from payments.ledger import transitions
from payments.models import Payment, PaymentEvent
from reservations.booking import commands, terms
from reservations.models import AgreedTerms, CancellationTerms, Hold, InvalidTransition, Reservation
from reservations.service import check_in
from tests.catalogue.bookings.deposit_builders import (
    begin_reservation,
    booked,
    cancel_as_staff,
    code_of,
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
from tests.payments.buyer import signed_by
from tests.payments.signing import client_of
from tests.support import builders as base
from tests.support.wallets import fresh_wallet, transfer_usdc

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ledger_matches_chain")]


@pytest.fixture
def wallet(wallets: Mapping[str, Wallet]) -> Wallet:
    return wallets["free"]


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
    pass_deadline()
    cancelled = send("delete", record).json()
    assert (cancelled["status"], cancelled["deposit"]["status"]) == ("cancelled", "kept")
    assert cancelled["cancellation"]["text"] == "The restaurant keeps the deposit of 20 USDC."
    assert the_payment().state == "delivered"


@pytest.mark.exhaustive
def test_a_cancellation_by_the_venue_returns_the_deposit_however_late(wallet: Wallet) -> None:
    place = restaurant()
    record = booked(place, wallet)
    pass_deadline()
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
    pass_deadline()
    api = base.client(place.listing.venue)
    address = f"/api/v2/reservations/{reservation().public_id}"
    assert api.patch(address, {"status": "cancelled"}, content_type="application/json").status_code == 200
    assert send("get", record).json()["deposit"]["status"] == "refund_due"


@pytest.mark.exhaustive
@pytest.mark.parametrize(("is_late", "status"), [(False, "refund_due"), (True, "kept")])
def test_the_page_of_the_guest_cancels_by_the_same_terms(wallet: Wallet, is_late: bool, status: str) -> None:
    record = booked(restaurant(), wallet)
    if is_late:
        pass_deadline()
    page = record["manage_url"].removeprefix("http://127.0.0.1:8000")
    assert b"The deposit of 20 USDC is returned when you come" in Client().get(page).content
    assert Client().post(f"{page}/cancel").status_code == 302
    assert send("get", record).json()["deposit"]["status"] == status


@pytest.mark.exhaustive
def test_a_no_show_loses_the_deposit_and_who_comes_gets_it_back(wallet: Wallet) -> None:
    record = booked(restaurant(), wallet)
    begin_reservation()
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
    pass_deadline()
    send("delete", record)
    for _ in range(2):
        terms.return_kept(reservation(), actor="staff:ada", now=timezone.now())
    assert send("get", record).json()["deposit"]["status"] == "refund_due"
    assert PaymentEvent.objects.filter(after="refund_due").count() == 1


@pytest.mark.exhaustive
def test_a_party_for_which_nothing_was_recorded_gets_the_deposit_back_a_day_later(wallet: Wallet) -> None:
    booked(restaurant(), wallet)
    begin_reservation(timedelta(hours=23, minutes=30))
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
    pass_deadline()
    assert send("patch", record, time="20:00").status_code == 200
    assert send("delete", record).json()["deposit"]["status"] == "kept"


@pytest.mark.exhaustive
def test_a_change_by_the_venue_gives_a_new_deadline(wallet: Wallet) -> None:
    place = restaurant()
    record = booked(place, wallet)
    pass_deadline()
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
    pass_deadline()
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
