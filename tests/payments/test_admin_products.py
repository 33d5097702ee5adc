"""The back office of payments: products, and prices that are added to."""

from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from payments import prices, seed
from payments.models import Price, Product
from payments.terms import STANDARD
from tests import make

REVIEWS = "/admin/payments/product/reviews/change/"


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return make.staff()


def form(**prices_form: str) -> dict[str, str]:
    """The page of the product `reviews` with one more price."""
    managed = {"TOTAL_FORMS": "5", "INITIAL_FORMS": "4", "MIN_NUM_FORMS": "0", "MAX_NUM_FORMS": "1000"}
    product = {"name": "Reviews", "description": "What guests say", "from_tier": "pro"}
    rows = {f"prices-{name}": value for name, value in managed.items()}
    return product | rows | {f"prices-4-{name}": value for name, value in prices_form.items()}


def price_of(product: str) -> Decimal:
    """The standard price now."""
    return prices.listed([product], now=timezone.now()).quote(STANDARD).amount


def test_a_new_price_holds_from_now_and_the_old_one_stays_in_the_history(staff: Client) -> None:
    seed.load()
    response = staff.post(REVIEWS, form(rate="standard", amount_usdc="0.005"))
    assert response.status_code == 302
    assert price_of("reviews") == Decimal("0.005")
    history = Price.objects.filter(product="reviews", rate="standard").order_by("valid_from")
    assert [price.amount_usdc for price in history] == [Decimal("0.004"), Decimal("0.005")]
    page = staff.get(REVIEWS).content.decode()
    assert "0.004000" in page
    assert "0.005000" in page
    assert "0.005000" in staff.get("/admin/payments/product/").content.decode()


def test_a_price_that_was_is_neither_changed_nor_deleted(staff: Client) -> None:
    seed.load()
    before = list(Price.objects.order_by("pk").values())
    first = Price.objects.filter(product="reviews").order_by("rate", "-valid_from", "-pk")[0]
    changed = {"prices-0-id": str(first.pk), "prices-0-amount_usdc": "9", "prices-0-DELETE": "on"}
    staff.post(REVIEWS, form() | changed)
    assert list(Price.objects.order_by("pk").values()) == before
    assert staff.post("/admin/payments/product/reviews/delete/", {"post": "yes"}).status_code == 403


def test_a_price_of_nothing_is_refused_in_the_form(staff: Client) -> None:
    seed.load()
    response = staff.post(REVIEWS, form(rate="standard", amount_usdc="0"))
    assert response.status_code == 200
    assert "A price is above zero" in response.content.decode()
    assert price_of("reviews") == Decimal("0.004")


def test_staff_open_a_product_to_a_tier(staff: Client) -> None:
    seed.load()
    staff.post(REVIEWS, form() | {"from_tier": "free", "slug": "renamed"})
    assert Product.objects.get(pk="reviews").from_tier == "free"
    assert not Product.objects.filter(pk="renamed").exists()
