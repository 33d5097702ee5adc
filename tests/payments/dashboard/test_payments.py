"""The dashboard's pages of payments: the list, the file, one payment, the spending by day and month."""

import csv
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.models import Venue
from payments.chain.networks import get_explorer_url
from payments.models import Billing, Payment, Wallet
from payments.pricing import default_products
from tests.payments import ledger_builders
from tests.support import users

pytestmark = pytest.mark.django_db
XSS = '"><script>alert(1)</script>'


@pytest.fixture
def owner(venue: Venue) -> Client:
    """The owner of an account whose wallet is lines.PAYER."""
    default_products.create_missing()
    Wallet.objects.create(address=ledger_builders.PAYER, account=venue.account)
    return users.member(venue)


def at(venue: Venue, rest: str = "payments") -> str:
    return f"/dashboard/{venue.public_id}/data/{rest}"


def output(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def shown(answer: Any) -> list[str]:
    """The ids of the payments on a page."""
    return re.findall(r"/data/payments/(pay_\w+)", answer.content.decode())


def test_list_takes_three_queries_besides_authentication(
    venue: Venue, owner: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(3):
        ledger_builders.payment(number)
    with django_assert_num_queries(3 + 5):
        assert owner.get(at(venue)).status_code == 200


def test_a_payment_stands_there_in_words_and_in_the_venues_time(venue: Venue, owner: Client) -> None:
    ledger_builders.payment(delivered_at=ledger_builders.NOW, state=Payment.State.DELIVERED)
    page = output(owner.get(at(venue)))
    assert "21 Nov 2026, 13:00:00 Neighborhood context REST 0.002 Delivered" in page


@pytest.mark.exhaustive
def test_pages_follow_each_other_without_a_gap(venue: Venue, owner: Client) -> None:
    made = [
        ledger_builders.payment(number, created_at=ledger_builders.NOW - timedelta(minutes=number))
        for number in range(30)
    ]
    first = owner.get(at(venue))
    older = re.search(r'href="(\?[^"]*cursor=[^"]+)"', first.content.decode())
    assert older is not None
    second = owner.get(at(venue) + unescape(older[1]))
    assert shown(first) + shown(second) == [row.public_id for row in made]


@pytest.mark.exhaustive
def test_the_list_is_narrowed_by_product_state_and_month_of_utc(venue: Venue, owner: Client) -> None:
    # At the venue, in Rome, this is in November as well; half an hour earlier only there.
    edge = datetime(2026, 11, 1, tzinfo=UTC)
    november = ledger_builders.payment(1, created_at=edge)
    reviews = ledger_builders.payment(2, products=["reviews", "context"], created_at=edge - timedelta(minutes=30))
    due = ledger_builders.refund_due(3, created_at=edge - timedelta(days=4))
    for query, found in (
        ({"month": "2026-11"}, [november]),
        ({"product": "reviews"}, [reviews]),
        ({"state": "refund_due"}, [due]),
        ({"state": "settled", "month": "2026-10"}, [reviews]),
    ):
        assert shown(owner.get(at(venue), query)) == [row.public_id for row in found]
    assert "No matching payments" in output(owner.get(at(venue), {"month": "2001-01"}))


@pytest.mark.parametrize(
    "query",
    [{"state": "gone"}, {"product": XSS}, {"month": "2026-13"}, {"month": "1e400"}, {"state": "\x00"}],
    ids=["state", "markup", "month", "number", "nul"],
)
def test_a_filter_that_means_nothing_is_refused_and_shown_as_text(
    venue: Venue, owner: Client, query: dict[str, str]
) -> None:
    for rest in ("payments", "payments/file"):
        answer = owner.get(at(venue, rest), query)
        assert (answer.status_code, "<script>alert" in answer.content.decode()) == (400, False)


def test_a_page_that_was_opened_too_long_ago_begins_again(venue: Venue, owner: Client) -> None:
    ledger_builders.payment()
    answer = owner.get(at(venue), {"cursor": "\x00nonsense"})
    assert (answer.status_code, len(shown(answer))) == (400, 1)
    assert "The newest payments are shown." in output(answer)


def test_the_file_has_all_of_them_and_no_formula(venue: Venue, owner: Client) -> None:
    ledger_builders.payment(1, resource="=HYPERLINK(1)")
    ledger_builders.payment(2, created_at=ledger_builders.NOW + timedelta(minutes=1))
    answer = owner.get(at(venue, "payments/file"))
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"] == 'attachment; filename="payments.csv"'
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]  # the other kind of answer
    head, *rows = csv.reader(text.splitlines())
    assert [row[head.index("amount_usdc")] for row in rows] == ["0.002", "0.002"]
    assert [row[head.index("resource")] for row in rows][1] == "'=HYPERLINK(1)"


def test_a_payment_tells_what_happened_to_it(venue: Venue, owner: Client) -> None:
    row = ledger_builders.refund_due(resource=f"https://api.example.com/{XSS}")
    answer = owner.get(at(venue, f"payments/{row.public_id}"))
    page = output(answer)
    assert "0.002 USDC Neighborhood context Refund due" in page
    assert "History" in page
    assert "<script>alert" not in answer.content.decode()


@pytest.mark.parametrize(
    ("network", "rpc", "explorer"),
    [
        ("eip155:8453", "https://rpc.example.com", "https://basescan.org"),
        ("eip155:84532", "https://rpc.example.com", "https://sepolia.basescan.org"),
        ("eip155:84532", "http://127.0.0.1:8545", None),
        ("eip155:1", "https://rpc.example.com", None),
    ],
)
def test_a_transaction_leads_to_an_explorer_on_public_networks_alone(
    settings: Settings, network: str, rpc: str, explorer: str | None
) -> None:
    settings.RPC_URL = rpc
    assert get_explorer_url(network) == explorer


def test_spending_adds_up_by_the_days_of_utc_without_what_goes_back(venue: Venue, owner: Client) -> None:
    with time_machine.travel(ledger_builders.NOW, tick=False):
        owner = users.member(venue)
        late = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)
        ledger_builders.payment(1, amount_usdc=Decimal("0.5"))
        ledger_builders.payment(2, amount_usdc=Decimal("0.25"), created_at=late)
        ledger_builders.payment(3, amount_usdc=Decimal(2), created_at=ledger_builders.NOW - timedelta(days=31))
        ledger_builders.refund_due(4, amount_usdc=Decimal(7))
        page = output(owner.get(at(venue, "spending")))
        assert "Spent: 0.75 USDC November 2026" in page
        # At the venue, in Rome, the second is of the next day.
        assert "20 November 1 0.25 21 November 1 0.5" in page
        assert "Last twelve months Month Payments USDC November 2026 2 0.75 October 2026 1 2 Monthly limit" in page
        assert owner.get(at(venue, "spending"), {"month": "0000-01"}).status_code == 400


def test_spending_page_takes_four_queries_besides_authentication(
    venue: Venue, owner: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(4 + 5):
        assert owner.get(at(venue, "spending")).status_code == 200


def test_who_has_paid_nothing_learns_how_the_first_call_is_paid(venue: Venue, owner: Client) -> None:
    page = output(owner.get(at(venue)))
    assert "No payments yet" in page
    assert 'curl -i "http://127.0.0.1:8000/v1/restaurants/SLUG?fields=core,context" HTTP/1.1 402' in page


def test_another_accounts_payments_are_not_there(venue: Venue, other_venue: Venue, owner: Client) -> None:
    row = ledger_builders.payment()
    stranger = users.member(other_venue)
    assert stranger.get(at(other_venue, f"payments/{row.public_id}")).status_code == 404
    assert shown(stranger.get(at(other_venue))) == []
    assert owner.get(at(venue, "payments/pay_1")).status_code == 404


@pytest.mark.parametrize("rest", ["payments", "payments/file", "spending"])
@pytest.mark.parametrize(("role", "status"), [("manager", 200), ("host", 403)])
def test_only_who_has_to_do_with_data_sees_payments(venue: Venue, role: str, status: int, rest: str) -> None:
    assert users.member(venue, role).get(at(venue, rest)).status_code == status


def test_the_spending_limit_is_set_shown_and_removed(venue: Venue, owner: Client) -> None:
    ledger_builders.payment(amount_usdc=Decimal("0.5"), created_at=timezone.now())
    limit = {"monthly_limit_usdc": "2.5", "alert_percents": ["100", "50", "50"]}
    assert owner.post(at(venue, "spending/limit"), limit).status_code == 302
    billing = Billing.objects.get()
    assert (billing.monthly_limit_usdc, billing.alert_percents) == (Decimal("2.5"), [50, 100])
    assert "0.5 of 2.5 USDC used this month, with payments that are being settled." in output(
        owner.get(at(venue, "spending"))
    )
    # The address on invoices is another setting.
    owner.post(at(venue, "invoices"), {"address": "Via Roma 1"})
    owner.post(at(venue, "spending/limit"), {"monthly_limit_usdc": ""})
    billing.refresh_from_db()
    assert (billing.monthly_limit_usdc, billing.alert_percents, billing.address) == (None, [], "Via Roma 1")


def test_shares_that_were_entered_before_stay_a_choice(venue: Venue, owner: Client) -> None:
    Billing.objects.create(account=venue.account, alert_percents=[75])
    page = owner.get(at(venue, "spending")).content.decode()
    assert re.findall(r'name="alert_percents" value="([0-9]+)"', page) == ["50", "75", "80", "100"]
    assert re.findall(r'value="([0-9]+)"[^>]* checked', page) == ["75"]
    assert owner.post(at(venue, "spending/limit"), {"alert_percents": ["75", "80"]}).status_code == 302
    assert Billing.objects.get().alert_percents == [75, 80]


@pytest.mark.parametrize(
    "wrong",
    [
        {"monthly_limit_usdc": "0"},
        {"monthly_limit_usdc": "-1"},
        {"monthly_limit_usdc": "1e400"},
        {"monthly_limit_usdc": "0.0000001"},
        {"monthly_limit_usdc": "NaN"},
        {"alert_percents": "0"},
        {"alert_percents": "101"},
        {"alert_percents": "75"},
        {"alert_percents": "\x00"},
    ],
)
def test_a_spending_limit_that_means_nothing_is_refused(venue: Venue, owner: Client, wrong: dict[str, str]) -> None:
    answer = owner.post(at(venue, "spending/limit"), {"monthly_limit_usdc": "1", "alert_percents": "50"} | wrong)
    assert (answer.status_code, Billing.objects.count()) == (400, 0)
