"""Invoices: months with sums that equal the ledger, and the PDF of a month, final once the month has ended."""

import io
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
import time_machine
from django.db.models import Sum
from django.test import Client
from pypdf import PdfReader
from pytest_django import DjangoAssertNumQueries

from accounts.models import Account, Venue
from payments.invoices import pdf, statement
from payments.models import Billing, Invoice, Payment, Refund, Wallet
from payments.reports.spending import UTC_ZONE, Month
from tests.payments import ledger_builders
from tests.support import users

pytestmark = pytest.mark.django_db
OCTOBER = datetime(2026, 10, 15, 12, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture
def owner(venue: Venue) -> Client:
    """The owner of an account whose wallet is ledger_builders.PAYER."""
    Wallet.objects.create(address=ledger_builders.PAYER, account=venue.account)
    return users.member(venue)


def at(venue: Venue, rest: str = "") -> str:
    return f"/dashboard/{venue.public_id}/data/invoices{rest}"


def text_of(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def paid(number: int, amount: str, *, settled_at: datetime | None = OCTOBER, **values: Any) -> Payment:
    return ledger_builders.payment(number, amount_usdc=Decimal(amount), settled_at=settled_at, **values)


def refunded(number: int, amount: str, *, confirmed_at: datetime | None) -> Payment:
    payment = paid(number, amount, state=Payment.State.REFUNDED, refunded_at=NOVEMBER)
    Refund.objects.create(
        payment=payment,
        amount_usdc=Decimal(amount),
        to=payment.payer,
        tx_hash=f"0x{900 + number:064x}",
        moved_usdc=Decimal(amount) if confirmed_at else None,
        by="finance",
        created_at=OCTOBER,
        confirmed_at=confirmed_at,
    )
    return payment


def pages_of(content: bytes) -> list[str]:
    return [page.extract_text() for page in PdfReader(io.BytesIO(content)).pages]


def load(account: Account, *, month: datetime = OCTOBER, now: datetime = NOVEMBER) -> statement.Statement:
    found = statement.load_statement(account, Month.of(month, UTC_ZONE), now=now)
    assert found is not None
    return found


@pytest.mark.exhaustive
def test_the_sums_of_the_months_are_those_of_the_ledger(
    venue: Venue, owner: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    assert "No invoices yet" in text_of(owner.get(at(venue)))
    paid(1, "0.002")
    paid(2, "0.5", state=Payment.State.DELIVERED)
    # A refund is due, and not sent yet: the money has arrived.
    paid(3, "0.004", state=Payment.State.REFUND_DUE, error="goodwill")
    refunded(4, "0.3", confirmed_at=NOVEMBER)
    refunded(5, "0.1", confirmed_at=None)
    # In Rome this is November already.
    paid(6, "0.01", settled_at=datetime(2026, 10, 31, 23, 59, 59, tzinfo=UTC))
    paid(7, "5", products=["deposit"])
    paid(8, "7", state=Payment.State.CLAIMED, settled_at=None, tx_hash=None)
    paid(9, "9", payer="0x" + "cd" * 20)
    with time_machine.travel(NOVEMBER, tick=False):
        page = text_of(users.member(venue).get(at(venue)))
        assert "November 2026 preliminary 0 0 0.3 -0.3 PDF" in page
        assert "October 2026 6 0.916 0 0.916 PDF" in page
    ledger = Payment.objects.filter(payer=ledger_builders.PAYER, state__in=Payment.PAID).exclude(products=["deposit"])
    found = load(venue.account)
    assert found.charged == ledger.aggregate(sum=Sum("amount_usdc"))["sum"] == sum(line.amount for line in found.lines)
    with django_assert_num_queries(5 + 5):
        owner.get(at(venue))


@pytest.mark.exhaustive
def test_the_pdf_has_the_lines_the_name_and_the_address_and_the_same_bytes(venue: Venue, owner: Client) -> None:
    Account.objects.filter(pk=venue.account.pk).update(name="Ресторан Łódź 寿司")
    saved = owner.post(at(venue), {"address": " Gårdvej 1 \r\n\r\n1234 Kø"})
    assert saved.status_code == 302
    assert Billing.objects.get().address == "Gårdvej 1\n1234 Kø"
    first = paid(1, "0.002", products=["context", "photos"])
    back = refunded(2, "0.3", confirmed_at=OCTOBER + timedelta(days=1))
    answer = owner.get(at(venue, "/2026-10"))
    number = f"2026-10-{venue.account.pk.hex[-12:].upper()}"
    assert answer["Content-Type"] == "application/pdf"
    assert answer["Content-Disposition"] == f'attachment; filename="invoice-{number}.pdf"'
    (page,) = pages_of(answer.content)
    lines = page.splitlines()
    assert lines[:2] == ["Invoice", f"Number {number}"]
    assert {"Ресторан Łódź ShouSi", "Gårdvej 1", "1234 Kø"} <= set(lines)
    text = " ".join(page.split())
    assert f"2026-10-15 {first.public_id} context + photos 0xabab…abab 0.002" in text
    assert f"2026-10-16 {back.public_id} Refund: context 0xabab…abab -0.3" in text
    assert "Payments 0.302 Refunds -0.3 Total 0.002" in text
    assert owner.get(at(venue, "/2026-10")).content == answer.content


@pytest.mark.exhaustive
def test_a_final_invoice_keeps_its_wallets_name_and_address(venue: Venue, owner: Client) -> None:
    paid(1, "0.002")
    final = owner.get(at(venue, "/2026-10")).content
    Wallet.objects.update(account=None)
    Account.objects.filter(pk=venue.account.pk).update(name="Another name")
    owner.post(at(venue), {"address": "Elsewhere 2"})
    assert owner.get(at(venue, "/2026-10")).content == final
    assert "October 2026 1 0.002 0 0.002 PDF" in text_of(owner.get(at(venue)))
    assert Invoice.objects.count() == 1


def test_payments_stay_on_the_invoice_of_their_account(venue: Venue, other_venue: Venue, owner: Client) -> None:
    paid(1, "0.002")
    refunded(2, "0.3", confirmed_at=OCTOBER)
    # Before the first opening.
    Wallet.objects.update(account=other_venue.account)
    found = load(venue.account)
    assert (found.charged, found.refunded) == (Decimal("0.302"), Decimal("0.3"))
    assert found.wallets == (ledger_builders.PAYER,)
    (month,) = statement.list_months(venue.account, now=NOVEMBER)
    assert (month.payments, month.total) == (2, Decimal("0.002"))
    assert statement.list_months(other_venue.account, now=NOVEMBER) == []
    assert statement.load_statement(other_venue.account, month.month, now=NOVEMBER) is None


def test_a_month_is_preliminary_until_an_hour_after_its_end(venue: Venue, owner: Client) -> None:
    paid(1, "0.002")
    end = datetime(2026, 11, 1, tzinfo=UTC)
    early = load(venue.account, now=end + timedelta(minutes=59))
    assert (early.is_final, Invoice.objects.count()) == (False, 0)
    assert pages_of(pdf.render_invoice(early))[0].splitlines()[0] == "Preliminary invoice"
    final = load(venue.account, now=end + timedelta(hours=1))
    assert (final.is_final, final.number) == (True, early.number)


@pytest.mark.exhaustive
def test_many_lines_fill_pages_and_very_many_are_summed_by_day(
    venue: Venue, owner: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(120):
        paid(number, "0.002", settled_at=OCTOBER + timedelta(days=number % 2))
    pages = pages_of(pdf.render_invoice(load(venue.account)))
    assert len(pages) == 3
    assert all("Date Payment Product Wallet USDC" in " ".join(page.split()) for page in pages)
    assert len(re.findall(r"pay_\w{26}", "".join(pages))) == 120
    assert "Total 0.24" in " ".join(pages[2].split())
    monkeypatch.setattr(statement, "MAX_LINES", 100)
    summed = load(venue.account)
    assert [(line.reference, line.amount) for line in summed.lines] == [("60 times 0.002", Decimal("0.12"))] * 2
    assert summed.charged == Decimal("0.24")
    assert "Lines sum several payments" in " ".join(pages_of(pdf.render_invoice(summed))[0].split())
    assert "Lines sum several payments" not in " ".join(pages[0].split())
    # Each amount is another one, as of plain transfers.
    monkeypatch.setattr(statement, "MAX_LINES", 1)
    for number in (200, 201):
        refunded(number, "0.3", confirmed_at=OCTOBER)
    by_month = load(venue.account)
    assert [(line.at, line.reference, line.text, line.amount) for line in by_month.lines] == [
        (date(2026, 10, 1), "122 payments of the month", "context", Decimal("0.84")),
        (date(2026, 10, 1), "2 refunds of the month", "Refund: context", Decimal("-0.6")),
    ]


@pytest.mark.parametrize("month", ["2026-09", "2026-13", "0000-01", "1e4", "pay_1"])
def test_a_month_without_lines_has_no_invoice(venue: Venue, owner: Client, month: str) -> None:
    assert owner.get(at(venue, f"/{month}")).status_code == 404
    assert Invoice.objects.count() == 0


def test_an_address_has_at_most_eight_lines(venue: Venue, owner: Client) -> None:
    refused = owner.post(at(venue), {"address": "\n".join(map(str, range(9)))})
    assert (refused.status_code, "Enter at most eight lines." in text_of(refused)) == (400, True)
    assert owner.post(at(venue), {"address": "x" * 501}).status_code == 400


def test_another_accounts_invoices_are_not_there(venue: Venue, other_venue: Venue, owner: Client) -> None:
    paid(1, "0.002")
    stranger = users.member(other_venue)
    assert stranger.get(at(other_venue, "/2026-10")).status_code == 404
    assert stranger.get(at(venue, "/2026-10")).status_code == 404
    assert users.member(venue, "host").get(at(venue)).status_code == 403
