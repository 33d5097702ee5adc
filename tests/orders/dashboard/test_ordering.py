"""The staff open the ordering page, set charges, and print QR codes of the tables."""

import re
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client, override_settings
from django.utils import timezone

from accounts.models import Venue
from orders.dashboard import ordering
from orders.models import ChargeRule, OrderingSettings
from orders.ordering_page.forms import TablesForm
from tests.support import builders, users

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager(venue: Venue) -> Client:
    return users.member(venue, "manager")


def settings(venue: Venue, path: str = "ordering") -> str:
    return f"/dashboard/{venue.public_id}/settings/{path}"


def sent(**changes: Any) -> dict[str, Any]:
    return {
        "is_page_open": "on",
        "page_fulfilments": ["pickup"],
        "prep_minutes": "25",
        "slot_minutes": "20",
        "orders_per_slot": "",
        "max_waiting_orders": "20",
    } | changes


def test_a_manager_opens_the_page(venue: Venue, manager: Client) -> None:
    builders.menu(venue)
    text = manager.get(settings(venue)).content.decode()
    assert re.findall(r'name="page_fulfilments" value="(\w+)"[^>]*checked', text) == ["pickup", "dine_in"]
    assert Client().get(f"/order/{venue.public_id}").status_code == 404
    assert manager.post(settings(venue), sent()).status_code == 302
    row = OrderingSettings.objects.get()
    assert (row.is_page_open, row.page_fulfilments, row.prep_minutes, row.slot_minutes, row.orders_per_slot) == (
        *(True, ["pickup"], 25, 20, None),
    )
    assert f'<a href="http://127.0.0.1:8000/order/{venue.public_id}"' in manager.get(settings(venue)).content.decode()
    assert Client().get(f"/order/{venue.public_id}").status_code == 200


def test_guests_pay_in_usdc_where_a_price_is_stated(venue: Venue, manager: Client) -> None:
    refused = manager.post(settings(venue), sent(takes_usdc="on"))
    assert refused.status_code == 400
    assert "State the price of one USDC." in refused.content.decode()
    assert manager.post(settings(venue), sent(takes_usdc="on", usdc_price="0")).status_code == 400
    assert manager.post(settings(venue), sent(takes_usdc="on", usdc_price="6.95")).status_code == 302
    row = OrderingSettings.objects.get()
    assert (row.takes_usdc, row.usdc_price) == (True, Decimal("6.95"))
    # The amount of an order would become too large to be stored.
    refused = manager.post(settings(venue), sent(takes_usdc="on", usdc_price="0.000001"))
    assert "0.01" in refused.content.decode()
    assert refused.status_code == 400


def test_one_usdc_is_one_us_dollar(venue: Venue, manager: Client) -> None:
    Venue.objects.update(currency="USD")
    assert 'name="usdc_price"' not in manager.get(settings(venue)).content.decode()
    assert manager.post(settings(venue), sent(takes_usdc="on", usdc_price="2")).status_code == 302
    assert OrderingSettings.objects.get().usdc_price == 1


def test_an_installation_without_payments_does_not_offer_usdc(venue: Venue, manager: Client) -> None:
    with override_settings(PAY_TO=""):
        assert "USDC" not in manager.get(settings(venue)).content.decode()
        assert manager.post(settings(venue), sent(takes_usdc="on", usdc_price="2")).status_code == 302
    assert not OrderingSettings.objects.get().takes_usdc


def test_a_venue_keeps_its_currency_while_it_has_a_price_of_usdc(venue: Venue, manager: Client) -> None:
    manager.post(settings(venue), sent(takes_usdc="on", usdc_price="6.95"))
    for _ in range(2):
        with pytest.raises(IntegrityError, match="are priced in"), transaction.atomic():
            Venue.objects.update(currency="SEK")
        # Switched off, the price stays.
        manager.post(settings(venue), sent(usdc_price="6.95"))
    manager.post(settings(venue), sent())
    assert Venue.objects.update(currency="SEK")


def test_a_price_of_usdc_is_not_stored_after_the_currency_has_changed(
    venue: Venue, manager: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_stored = ordering.is_stored

    def changed_first(form: Any) -> bool:
        Venue.objects.update(currency="SEK")
        return is_stored(form)

    monkeypatch.setattr(ordering, "is_stored", changed_first)
    answer = manager.post(settings(venue), sent(takes_usdc="on", usdc_price="6.95"))
    assert answer.status_code == 400
    assert "Another user has just changed this." in answer.content.decode()
    assert not OrderingSettings.objects.exists()


def test_a_venue_without_usdc_changes_from_us_dollars(venue: Venue, manager: Client) -> None:
    Venue.objects.update(currency="USD")
    manager.post(settings(venue), sent(takes_usdc="on"))
    manager.post(settings(venue), sent())
    assert Venue.objects.update(currency="SEK")


@pytest.mark.parametrize(
    "changes",
    [{"prep_minutes": "1441"}, {"slot_minutes": "7"}, {"orders_per_slot": "0"}, {"page_fulfilments": []}],
)
def test_wrong_settings_are_refused(venue: Venue, manager: Client, changes: dict[str, Any]) -> None:
    response = manager.post(settings(venue), sent(**changes))
    assert response.status_code == 400
    assert "errorlist" in response.content.decode()
    assert not OrderingSettings.objects.exists()


def charge(**changes: str) -> dict[str, Any]:
    return {
        "name": "Service",
        "type": "service_charge",
        "percent": "10",
        "tax_percent": "0",
        "position": "0",
    } | changes


def test_the_staff_pause_the_page_and_continue(venue: Venue) -> None:
    OrderingSettings.objects.create(venue=venue, is_page_open=True)
    host = users.member(venue, "host")
    path = f"/dashboard/{venue.public_id}/board/pause"
    before = timezone.now()
    assert "Pause for 30 minutes" in host.get(path).content.decode()
    assert host.post(path, {"pause": "30"}).status_code == 302
    row = OrderingSettings.objects.get()
    assert row.paused_until is not None
    assert timedelta(minutes=30) <= row.paused_until - before < timedelta(minutes=31)
    assert "Paused until" in host.get(path).content.decode()
    host.post(path, {"pause": "open"})
    assert OrderingSettings.objects.get().paused_until is None
    assert OrderingSettings.objects.get().is_paused(now=timezone.now() + timedelta(days=9))
    host.post(path, {"pause": "no"})
    assert not OrderingSettings.objects.get().is_paused(now=timezone.now())
    assert "The ordering page takes orders" in host.get(path).content.decode()


def test_a_charge_is_added_changed_and_deleted(venue: Venue, manager: Client) -> None:
    assert manager.post(settings(venue, "charges/new"), charge(fulfilments="dine_in")).status_code == 302
    rule = ChargeRule.objects.get(venue=venue)
    assert "Service</bdi></a>" in manager.get(settings(venue)).content.decode()
    assert manager.post(settings(venue, "charges/new"), charge()).status_code == 400
    path = settings(venue, f"charges/{rule.pk}")
    assert manager.post(path, charge(percent="", amount="2.50")).status_code == 302
    rule.refresh_from_db()
    assert (rule.percent, rule.amount, rule.fulfilments) == (None, Decimal("2.5"), [])
    assert manager.post(f"{path}/remove").status_code == 302
    assert not ChargeRule.objects.exists()


@pytest.mark.parametrize(
    "changes", [{"percent": ""}, {"amount": "2.00"}, {"percent": "101"}, {"percent": "", "amount": "2.505"}]
)
def test_a_wrong_charge_is_refused(venue: Venue, manager: Client, changes: dict[str, str]) -> None:
    assert manager.post(settings(venue, "charges/new"), charge(**changes)).status_code == 400
    assert not ChargeRule.objects.exists()


def test_a_sheet_has_a_code_for_each_table(venue: Venue, manager: Client) -> None:
    builders.table(venue, "T1")
    assert 'name="tables" value="T1"' in manager.get(settings(venue)).content.decode()
    response = manager.get(settings(venue, "ordering/qr-codes"), {"tables": "1-3, Bar <b>"})
    text = response.content.decode()
    assert re.findall(r"Table <bdi>(.*?)</bdi>", text) == ["1", "2", "3", "Bar &lt;b&gt;"]
    assert text.count("<svg") == 4
    assert manager.get(settings(venue, "ordering/qr-codes")).status_code == 400


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("1-3, Bar", ["1", "2", "3", "Bar"]),
        ("T8-10,T9", ["T8", "T9", "T10"]),
        ("3-1, A-B", ["3-1", "A-B"]),
        (" , 5,", ["5"]),
        ("1-201", None),
        ("x" * 41, None),
        ("", None),
    ],
)
def test_tables_are_read_with_ranges(text: str, names: list[str] | None) -> None:
    form = TablesForm({"tables": text})
    assert (form.cleaned_data["tables"] if form.is_valid() else None) == names
