"""Demo data from the dashboard: one click to fill a sandbox, a confirmation to empty it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.dashboard.demo_data import describe
from accounts.demo import commands
from accounts.models import DemoData, Venue
from orders.models import Order
from reservations.models import Reservation
from tests.support import builders, users

BUTTON = "Fill with demo data"


@pytest.fixture
def sandbox(db: None) -> Venue:
    return builders.venue("Osteria (sandbox)", is_sandbox=True)


@pytest.mark.exhaustive
def test_sandbox_is_filled_and_emptied_from_its_pages(sandbox: Venue) -> None:
    client = users.member(sandbox)
    base = f"/dashboard/{sandbox.public_id}"
    pages = ("", "/welcome", "/board", "/orders", "/reservations", "/guests", "/menu", "/settings")
    assert [page for page in pages if BUTTON not in client.get(base + page).content.decode()] == []

    filled = client.post(f"{base}/demo-data", follow=True)
    assert filled.redirect_chain == [(base, 302)]
    text = filled.content.decode()
    orders, reservations = Order.objects.count(), Reservation.objects.count()
    assert f"Added 21 dishes, 10 tables, 10 notes about guests, {orders} orders, {reservations} reservations" in text
    assert [page for page in pages if BUTTON in client.get(base + page).content.decode()] == []
    assert "The demo data is up to date." in client.post(f"{base}/demo-data", follow=True).content.decode()

    DemoData.objects.update(filled_at=timezone.now() - timedelta(days=1))
    assert "Move demo data to today" in client.get(base).content.decode()
    moved = client.post(f"{base}/demo-data", follow=True).content.decode()
    assert "The demo data was moved to today:" in moved
    assert "Move demo data to today" not in moved

    assert f'href="{base}/demo-data/remove"' in client.get(f"{base}/settings").content.decode()
    assert "Remove the demo data?" in client.get(f"{base}/demo-data/remove").content.decode()
    orders = Order.objects.count()
    removed = client.post(f"{base}/demo-data/remove", follow=True)
    assert removed.redirect_chain == [(f"{base}/settings", 302)]
    text = removed.content.decode()
    assert f"Removed {orders} orders, 21 dishes, " in text
    assert BUTTON in text
    assert (Order.objects.count(), Reservation.objects.count()) == (0, 0)
    assert "There was no demo data." in client.post(f"{base}/demo-data/remove", follow=True).content.decode()


@pytest.mark.exhaustive
@pytest.mark.parametrize("role", ["host", "kitchen"])
def test_roles_without_the_right_to_the_settings_get_no_button(sandbox: Venue, role: str) -> None:
    client = users.member(sandbox, role)
    base = f"/dashboard/{sandbox.public_id}"
    assert BUTTON not in client.get(base).content.decode()
    assert BUTTON not in client.get(f"{base}/board").content.decode()
    assert [client.post(base + path).status_code for path in ("/demo-data", "/demo-data/remove")] == [403, 403]
    assert client.get(f"{base}/demo-data/remove").status_code == 403
    assert Order.objects.count() == 0


@pytest.mark.exhaustive
def test_live_venue_is_neither_filled_nor_emptied(venue: Venue) -> None:
    client = users.member(venue)
    base = f"/dashboard/{venue.public_id}"
    for page in ("", "/welcome", "/board", "/settings"):
        assert "demo data" not in client.get(base + page).content.decode().lower()
    for path in ("/demo-data", "/demo-data/remove"):
        page = client.post(base + path, follow=True).content.decode()
        assert "Only a sandbox can have demo data: this is a live restaurant." in page
    assert client.get(f"{base}/demo-data/remove").status_code == 404
    assert client.get(f"{base}/demo-data").status_code == 405
    assert (Order.objects.count(), DemoData.objects.count()) == (0, 0)


@pytest.mark.exhaustive
def test_demo_does_not_count_as_the_first_call(sandbox: Venue) -> None:
    commands.fill(sandbox, now=timezone.now())
    page = users.member(sandbox).get(f"/dashboard/{sandbox.public_id}").content.decode()
    assert "Make an API call with your key</a>" in page
    assert "Add a webhook</a>" not in page


def test_counts_are_described_in_words() -> None:
    assert describe({"orders": 1196, "tables": 1, "dishes": 0, "API calls": 2}) == (
        "1,196 orders, 1 table and 2 API calls"
    )
    assert describe({"tables": 0}) == ""
