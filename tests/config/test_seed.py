"""`manage.py seed`: what it makes, and what a later run leaves."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.core.management import call_command
from django.utils import timezone

from accounts.demo import commands as demo
from accounts.models import DemoData, Venue
from catalogue.models import Holiday
from orders.models import Menu, Order
from reservations.models import Combination, Reservation, ServicePeriod, Table
from tests.support import builders

pytestmark = pytest.mark.django_db


def seed(keep: Path | None = None) -> dict[str, Any]:
    """The output of one run."""
    out = StringIO()
    call_command("seed", json=True, keep=keep, stdout=out, stderr=StringIO())
    output: dict[str, Any] = json.loads(out.getvalue())
    return output


@pytest.mark.exhaustive
def test_seed_makes_one_restaurant_in_service_and_keys_that_stay(tmp_path: Path) -> None:
    output = seed()
    (tmp_path / "up.json").write_text(json.dumps(output))
    assert seed(tmp_path / "up.json") == output
    assert list(output["management"]) == [
        "api_key",
        "wide_api_key",
        "other_api_key",
        "wide_other_api_key",
        "menu_api_key",
    ]
    # A fresh product knows the public holidays at once.
    assert Holiday.objects.values("market").distinct().count() == 12
    venue = Venue.objects.get(name="Demo Osteria")
    assert (venue.timezone, venue.currency, venue.is_sandbox) == ("Europe/Rome", "EUR", True)
    assert output["dashboard"]["venue"] == venue.public_id
    for model, number in ((Menu, 1), (Table, 10), (Combination, 2), (ServicePeriod, 4)):
        assert model.objects.count() == model.objects.filter(venue=venue).count() == number
    assert Order.objects.exclude(venue=venue).count() == Reservation.objects.exclude(venue=venue).count() == 0
    api = builders.client_with(output["management"]["menu_api_key"])
    listed = api.get("/api/v1/orders?status=pending").json()
    assert listed["pagination"]["total"] == 7
    created = api.post("/api/v1/orders", builders.order_body(), content_type="application/json").json()
    assert created["total"] == "19.00"


@pytest.mark.exhaustive
def test_seed_of_a_later_day_moves_the_demo_to_that_day() -> None:
    first = datetime(2026, 11, 24, 18, 30, tzinfo=UTC)
    for now in (first, first + timedelta(days=3)):
        with time_machine.travel(now, tick=False):
            seed()
        assert DemoData.objects.get().filled_at == now
        assert Order.objects.filter(business_date=now.date()).count() == 12
        assert Reservation.objects.filter(date=now.date()).count() == 20


@pytest.mark.exhaustive
def test_removed_demo_stays_removed() -> None:
    seed()
    demo.remove(Venue.objects.get(name="Demo Osteria"), now=timezone.now())
    seed()
    assert (Order.objects.count(), Reservation.objects.count(), Menu.objects.count()) == (0, 0, 0)
