"""The revenue report: payments by day, product, tier, form, channel and network; its chart and its files."""

import csv
import io
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from payments.models import Payment
from payments.observability.ledger_collector import LedgerCollector
from payments.reports import revenue
from payments.reports.revenue import Period, Sum
from tests.support import builders

ADDRESS = "/admin/payments/revenue/"
NOW = datetime(2026, 11, 18, 12, tzinfo=UTC)
WEEK = Period(date(2026, 11, 16), date(2026, 11, 22))
CHOSEN = "days=custom&first=2026-11-16&last=2026-11-22&per=day"
State = Payment.State

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


def paid(number: int, amount: str = "0.002", *, at: datetime = NOW, **values: Any) -> Payment:
    """A payment whose money arrived at this moment."""
    body: dict[str, Any] = {
        "form": Payment.Form.V2,
        "state": State.DELIVERED,
        "network": "eip155:84532",
        "asset": "0x" + "11" * 20,
        "payer": "0x" + "ab" * 20,
        "pay_to": "0x" + "22" * 20,
        "amount_usdc": Decimal(amount),
        "proof_key": f"tx:{number}",
        "purchase": "0" * 64,
        "resource": "https://api.example.com/v1/restaurants/noma?fields=context",
        "products": ["context"],
        "tier": "free",
        "tx_hash": f"0x{number:064x}",
        "created_at": at,
        "claimed_at": at,
        "settled_at": at,
    }
    return Payment.objects.create(**body | values)


def a_week() -> None:
    """Six payments of four days, one of which the outcome is open."""
    paid(1, "0.002")
    paid(2, "0.006", products=["reviews", "context"], tier="pro", form=Payment.Form.TX)
    paid(3, "0.004", products=["context", "reviews"], at=NOW - timedelta(days=1), network="eip155:8453", channel="mcp")
    paid(4, "0.5", state=State.REFUND_DUE)
    paid(5, "0.25", state=State.REFUNDED, refunded_at=NOW)
    paid(6, "9", state=State.UNKNOWN, settled_at=None, tx_hash=None)
    paid(7, "9", state=State.EXPIRED, settled_at=None, tx_hash=None)
    paid(8, "7", at=WEEK.until)
    paid(9, "7", at=WEEK.since - timedelta(microseconds=1))


def test_revenue_separates_refunds_due_refunds_sent_and_unknown_outcomes() -> None:
    a_week()
    found = revenue.load_report(WEEK)
    assert found.total == Sum(
        "all",
        payments=3,
        usdc=Decimal("0.012"),
        refunds_due=1,
        refunds_due_usdc=Decimal("0.5"),
        refunded=1,
        refunded_usdc=Decimal("0.25"),
        unknown=1,
    )
    assert found.total.average == Decimal("0.004")


def test_each_table_comes_to_the_whole_and_several_products_are_one_name() -> None:
    a_week()
    tables = revenue.load_report(WEEK).tables
    stored = {name: {each.name: each.usdc for each in sums if each.usdc} for name, sums in tables.items()}
    assert stored == {
        "moment": {"2026-11-17": Decimal("0.004"), "2026-11-18": Decimal("0.008")},
        "product": {"context + reviews": Decimal("0.010"), "context": Decimal("0.002")},
        "tier": {"pro": Decimal("0.006"), "free": Decimal("0.006")},
        "form": {"tx": Decimal("0.006"), "v2": Decimal("0.006")},
        "channel": {"rest": Decimal("0.008"), "mcp": Decimal("0.004")},
        "network": {"eip155:84532": Decimal("0.008"), "eip155:8453": Decimal("0.004")},
    }
    for sums in tables.values():
        assert sum(each.usdc for each in sums) == Decimal("0.012")
        assert [sum(getattr(each, name) for each in sums) for name in ("refunds_due", "refunded", "unknown")] == [
            1,
            1,
            1,
        ]


def test_days_without_a_payment_are_there_and_weeks_begin_on_monday() -> None:
    a_week()
    assert [each.name for each in revenue.load_report(WEEK).tables["moment"]] == [
        f"2026-11-{day}" for day in range(16, 23)
    ]
    weeks = revenue.load_report(Period(date(2026, 11, 18), date(2026, 11, 30), "week"))
    assert [(each.name, each.usdc) for each in weeks.tables["moment"]] == [
        ("2026-11-16", Decimal("0.008")),
        ("2026-11-23", Decimal(7)),
        ("2026-11-30", Decimal(0)),
    ]
    months = revenue.load_report(Period(date(2025, 12, 31), date(2026, 11, 30), "month"))
    names = [each.name for each in months.tables["moment"]]
    assert (len(names), names[0], names[-1]) == (12, "2025-12-01", "2026-11-01")


def test_the_report_is_one_statement(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    a_week()
    with django_assert_num_queries(1):
        revenue.load_report(WEEK)


def test_the_page_shows_a_chart_that_is_also_words_and_every_table(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    a_week()
    # Session, user, report.
    with django_assert_num_queries(3):
        page = staff.get(f"{ADDRESS}?{CHOSEN}").content.decode()
    assert page.count("<rect ") == 7
    assert "<title>2026-11-18: 0.008 USDC, 2 payments</title>" in page
    assert "The best day is 2026-11-18 with 0.008 USDC." in page
    for body in (
        "By time",
        "By product",
        "By tier",
        "By form",
        "By channel",
        "By network",
        "context + reviews",
        "days in UTC",
    ):
        assert body in page


@pytest.mark.parametrize("days", ["7", "30", "90", "365"])
def test_every_period_opens_also_with_nothing_in_it(staff: Client, days: str) -> None:
    assert "No payments in this period." in staff.get(f"{ADDRESS}?days={days}").content.decode()
    paid(1, at=timezone.now())
    page = staff.get(f"{ADDRESS}?days={days}")
    assert (page.status_code, page.context["report"].total.usdc) == (200, Decimal("0.002"))


def test_the_report_stands_in_the_index(staff: Client) -> None:
    assert ADDRESS in staff.get("/admin/").content.decode()


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("days=custom", "Enter the first and the last day."),
        ("days=custom&first=2026-11-16", "Enter the first and the last day."),
        ("days=custom&first=2026-11-16&last=2026-11-15", "The last day must not be before the first."),
        ("days=custom&first=2000-01-01&last=2026-11-15", "Enter at most ten years."),
        ("days=custom&first=2024-01-01&last=2026-11-15&per=day", "At most 400 bars"),
        ("days=custom&first=9999-12-30&last=9999-12-31", "Enter days from 2000-01-01 to 2099-12-31."),
        ("days=custom&first=9998-01-01&last=9999-12-31&per=month", "Enter days from 2000-01-01 to 2099-12-31."),
        ("days=custom&first=0001-01-01&last=0001-01-02&per=week", "Enter days from 2000-01-01 to 2099-12-31."),
        ("days=custom&first=then&last=2026-11-15", "Enter a valid date."),
        ("days=8", "Select a valid choice."),
        ("per=hour", "Select a valid choice."),
    ],
)
def test_a_period_that_cannot_be_shown_is_refused_in_words(staff: Client, query: str, why: str) -> None:
    page = staff.get(f"{ADDRESS}?{query}")
    assert page.status_code == 400
    assert why in page.content.decode()


def test_the_report_as_a_file_has_the_numbers_of_the_page(staff: Client) -> None:
    a_week()
    rows = table(staff.get(f"{ADDRESS}?{CHOSEN}&csv=report"))
    assert rows[0][:4] == ["by", "name", "payments", "usdc"]
    assert rows[1] == [
        "all",
        "2026-11-16 to 2026-11-22",
        "3",
        "0.012000",
        "0.004000",
        "1",
        "0.250000",
        "1",
        "0.500000",
        "1",
    ]
    assert [row[1] for row in rows if row[0] == "product"] == ["context + reviews", "context"]


def test_the_ledger_as_a_file_has_each_line_whose_money_arrived_in_the_period(staff: Client) -> None:
    a_week()
    Payment.objects.filter(proof_key="tx:1").update(payment_identifier="=cmd|' /C calc'!A0")
    rows = table(staff.get(f"{ADDRESS}?{CHOSEN}&csv=ledger"))
    assert [row[rows[0].index("tx_hash")][-1] for row in rows[1:]] == ["3", "1", "2", "4", "5"]
    assert rows[2][rows[0].index("payment_identifier")] == "'=cmd|' /C calc'!A0"
    assert rows[2][0] == Payment.objects.get(proof_key="tx:1").public_id
    assert rows[2][rows[0].index("settled_at")] == "2026-11-18T12:00:00+00:00"


def test_payments_of_the_same_time_are_each_exported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revenue, "CHUNK_SIZE", 3)
    written = [paid(number) for number in range(10)]
    assert sorted(row.pk for row in revenue.iterate_payments(WEEK)) == sorted(row.pk for row in written)


def test_who_may_not_look_at_payments_sees_no_revenue(db: None) -> None:
    user = User.objects.create_user("looker@example.com", is_staff=True)
    client = Client()
    client.force_login(user)
    for query in ("", f"?{CHOSEN}&csv=report", f"?{CHOSEN}&csv=ledger"):
        assert client.get(f"{ADDRESS}{query}").status_code == 403
    user.user_permissions.set(Permission.objects.filter(codename="view_payment"))
    client.force_login(user)
    assert client.get(ADDRESS).status_code == 200


def table(response: Any) -> list[list[str]]:
    """A file of CSV as it was sent, in parts."""
    assert (response.status_code, response.streaming) == (200, True)
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    return table_of(b"".join(response.streaming_content).decode())


def table_of(text: str) -> list[list[str]]:
    """The cells of CSV."""
    return list(csv.reader(io.StringIO(text, newline="")))


def test_deposits_are_no_revenue_and_have_a_line_of_their_own(staff: Client) -> None:
    paid(1, "0.002")
    for number, state in enumerate([State.DELIVERED, State.DELIVERED, State.REFUND_DUE, State.REFUNDED], start=2):
        sent_at = NOW if state == State.REFUNDED else None
        paid(number, "20", products=["deposit"], state=state, refunded_at=sent_at)
    paid(6, "20", products=["deposit"], state=State.UNKNOWN, settled_at=None, tx_hash=None)
    found = revenue.load_report(WEEK)
    bought = (1, Decimal("0.002"))
    assert (found.total, found.tables["product"]) == (Sum("all", *bought), [Sum("context", *bought)])
    assert found.deposits == Sum("deposit", 2, Decimal(40), 1, Decimal(20), 1, Decimal(20), unknown=1)
    assert (
        "Deposits are not in the revenue: 40 USDC of 2 deposits are held for venues or payable to them, 20 USDC are"
        " due to be returned, and 20 USDC were returned."
    ) in staff.get(f"{ADDRESS}?{CHOSEN}").content.decode()
    metrics = {metric.name: metric for metric in LedgerCollector().read()}
    assert [sample.value for sample in metrics["tablewire_deposits_usdc"].samples] == [40]
    revenues = metrics["tablewire_revenue_usdc"].samples
    assert [(sample.labels["products"], sample.value) for sample in revenues] == [("context", 0.002)]
