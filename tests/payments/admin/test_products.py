"""The back office of payments: products, and prices that are added to."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.db.models.signals import pre_save
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.models import User
from payments.models import Price, Product
from payments.pricing import default_products, price_list
from payments.tiers.definitions import PREMIUM
from payments.tiers.terms import STANDARD, tier_terms
from tests.support import builders

PRODUCTS = "/admin/payments/product/"
REVIEWS = "/admin/payments/product/reviews/change/"
PRICES = "/admin/payments/price/"


@pytest.fixture
def staff(db: None) -> Client:
    """A superuser in the back office."""
    return builders.staff()


def form(**prices_form: str) -> dict[str, str]:
    """The page of the product `reviews` with one more price."""
    managed = {"TOTAL_FORMS": "5", "INITIAL_FORMS": "4", "MIN_NUM_FORMS": "0", "MAX_NUM_FORMS": "1000"}
    product = {"name": "Reviews", "description": "What guests say", "from_tier": "pro"}
    rows = {f"prices-{name}": value for name, value in managed.items()}
    return product | rows | {f"prices-4-{name}": value for name, value in prices_form.items()}


def price_of(product: str) -> Decimal:
    """The standard price now."""
    return price_list.load_price_list([product], now=timezone.now()).quote(STANDARD).amount


@pytest.mark.exhaustive
def test_a_new_price_holds_from_now_and_the_old_one_stays_in_the_history(staff: Client) -> None:
    default_products.create_missing()
    response = staff.post(REVIEWS, form(rate="standard", amount_usdc="0.005"))
    assert response.status_code == 302
    assert price_of("reviews") == Decimal("0.005")
    history = Price.objects.filter(product="reviews", rate="standard").order_by("valid_from")
    assert [price.amount_usdc for price in history] == [Decimal("0.004"), Decimal("0.005")]
    page = staff.get(REVIEWS).content.decode()
    assert "0.004000" in page
    assert "0.005000" in page
    assert "0.005<" in staff.get(PRODUCTS).content.decode()
    assert {(price.amount_usdc, price.by) for price in history} == {
        (Decimal("0.004"), "system"),
        (Decimal("0.005"), "staff:staff@example.com"),
    }


def test_a_price_that_was_is_neither_changed_nor_deleted(staff: Client) -> None:
    default_products.create_missing()
    before = list(Price.objects.order_by("pk").values())
    first = Price.objects.filter(product="reviews").order_by("rate", "-valid_from", "-pk")[0]
    changed = {"prices-0-id": str(first.pk), "prices-0-amount_usdc": "9", "prices-0-DELETE": "on"}
    staff.post(REVIEWS, form() | changed)
    assert list(Price.objects.order_by("pk").values()) == before
    assert staff.post("/admin/payments/product/reviews/delete/", {"post": "yes"}).status_code == 403


def test_a_price_that_conflicts_with_a_concurrent_change_is_refused_on_its_form(staff: Client) -> None:
    default_products.create_missing()
    before = list(Price.objects.order_by("pk").values())
    tomorrow = (timezone.now() + timedelta(days=1)).replace(microsecond=0)

    def set_it(**_: Any) -> None:
        # After the form was found in order, and before its prices are set.
        Price.objects.create(
            product_id="reviews", rate="standard", amount_usdc=1, valid_from=tomorrow, by="staff:other"
        )

    pre_save.connect(set_it, sender=Product)
    try:
        page = staff.post(
            REVIEWS,
            form(
                rate="standard",
                amount_usdc="0.005",
                valid_from_0=f"{tomorrow:%Y-%m-%d}",
                valid_from_1=f"{tomorrow:%H:%M:%S}",
            ),
        )
    finally:
        pre_save.disconnect(set_it, sender=Product)
    assert page.status_code == 200
    why = f"From {tomorrow:%Y-%m-%d %H:%M} UTC on the standard price is to be 1: cancel that first."
    assert [why] in page.context["errors"]
    assert "0.005" in page.content.decode()
    assert list(Price.objects.order_by("pk").values()) == before


def test_a_price_of_nothing_is_refused_in_the_form(staff: Client) -> None:
    default_products.create_missing()
    response = staff.post(REVIEWS, form(rate="standard", amount_usdc="0"))
    assert response.status_code == 200
    assert "A price is above zero" in response.content.decode()
    assert price_of("reviews") == Decimal("0.004")


def test_staff_open_a_product_to_a_tier(staff: Client) -> None:
    default_products.create_missing()
    staff.post(REVIEWS, form() | {"from_tier": "free", "slug": "renamed"})
    assert Product.objects.get(pk="reviews").from_tier == "free"
    assert not Product.objects.filter(pk="renamed").exists()


@pytest.mark.exhaustive
def test_a_price_to_come_is_set_shown_and_taken_back_but_one_that_has_begun_stays(staff: Client) -> None:
    default_products.create_missing()
    response = staff.post(
        REVIEWS,
        form(rate="standard", amount_usdc="0.005", valid_from_0="2099-12-01", valid_from_1="00:00:00"),
    )
    assert response.status_code == 302
    assert price_of("reviews") == Decimal("0.004")
    coming = Price.objects.get(valid_from=datetime(2099, 12, 1, tzinfo=UTC))
    assert (coming.rate, coming.amount_usdc, coming.by) == ("standard", Decimal("0.005"), "staff:staff@example.com")
    assert coming.created_at < timezone.now()
    for page in (PRODUCTS, REVIEWS):
        assert "0.004<br>0.005 from 2099-12-01 00:00 UTC" in staff.get(page).content.decode()
    assert "from 2099-12-01 00:00 UTC" in staff.get(f"{PRICES}?time=upcoming").content.decode()
    chosen = {
        "action": "cancel_prices",
        "confirmed": "yes",
        "_selected_action": [str(pk) for pk in Price.objects.values_list("pk", flat=True)],
    }
    assert builders.messages_of(staff.post(PRICES, chosen))[-2:] == [
        "1 cancelled.",
        "40 have already started and were kept.",
    ]
    assert Price.objects.count() == 40


def test_a_price_without_an_amount_ends_the_sale_at_its_rate(staff: Client) -> None:
    default_products.create_missing()
    assert staff.post(REVIEWS, form(rate="best", amount_usdc="")).status_code == 302
    now = timezone.now()
    assert price_list.current_prices(now=now)["reviews"].keys() == {"standard", "discounted", "committed"}
    with pytest.raises(price_list.NotSold):
        price_list.load_price_list(["reviews"], now=now).quote(tier_terms(PREMIUM))
    assert price_list.load_price_list(["reviews"], now=now).acceptable([tier_terms(PREMIUM)]) == {Decimal("0.002")}
    later = price_list.load_price_list(["reviews"], now=now + timedelta(seconds=61))
    assert later.acceptable([tier_terms(PREMIUM)]) == frozenset()
    assert "not sold" in staff.get(PRODUCTS).content.decode()
    assert staff.post(REVIEWS, form(rate="best", amount_usdc="0.002")).status_code == 302
    assert price_list.load_price_list(["reviews"], now=timezone.now()).quote(tier_terms(PREMIUM)).amount == Decimal(
        "0.002"
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("wanted", "doubt"),
    [
        (
            {"rate": "discounted", "amount_usdc": "0.005"},
            "Pro would pay 0.005 and Free only 0.004.",
        ),
        ({"rate": "standard", "amount_usdc": "1.01"}, "1.01 USDC is more than the 1 USD"),
        ({"rate": "standard", "amount_usdc": "0.002"}, "Pro would pay 0.003 and Free only 0.002."),
        ({"rate": "standard", "amount_usdc": ""}, "without one they cannot buy at all"),
    ],
)
def test_what_hardly_anybody_means_is_set_only_once_they_say_so(
    staff: Client, wanted: dict[str, str], doubt: str
) -> None:
    default_products.create_missing()
    page = staff.post(REVIEWS, form(**wanted))
    assert page.status_code == 200
    assert doubt in page.content.decode()
    assert Price.objects.count() == 40
    assert staff.post(REVIEWS, form(**wanted, is_confirmed="on")).status_code == 302
    assert Price.objects.count() == 41


def test_prices_of_several_rates_are_validated_together(staff: Client) -> None:
    default_products.create_missing()
    both = form(rate="discounted", amount_usdc="0.006") | {
        "prices-TOTAL_FORMS": "6",
        "prices-5-rate": "standard",
        "prices-5-amount_usdc": "0.006",
    }
    assert staff.post(REVIEWS, both).status_code == 302
    assert price_list.current_prices(now=timezone.now())["reviews"]["discounted"] == Decimal("0.006")


def test_a_price_in_the_past_is_refused(staff: Client) -> None:
    default_products.create_missing()
    page = staff.post(
        REVIEWS, form(rate="standard", amount_usdc="0.009", valid_from_0="2020-01-01", valid_from_1="00:00:00")
    )
    assert "A price begins now or later" in page.content.decode()
    assert Price.objects.count() == 40


def test_the_price_that_is_so_already_is_not_set_again(staff: Client) -> None:
    default_products.create_missing()
    assert staff.post(REVIEWS, form(rate="standard", amount_usdc="0.0040")).status_code == 302
    assert Price.objects.count() == 40


def test_a_product_is_added_without_prices_and_is_not_sold(staff: Client) -> None:
    new = {"slug": "menus", "name": "Menus", "description": "What is cooked", "from_tier": "free"}
    assert staff.post(f"{PRODUCTS}add/", new).status_code == 302
    assert Product.objects.get().pk == "menus"
    assert staff.get(PRODUCTS).content.decode().count("not sold") == 4


@pytest.mark.exhaustive
def test_lists_of_products_and_prices_cost_the_same_however_much_there_is(
    staff: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    default_products.create_missing()
    for budget, address in ((6, PRODUCTS), (9, PRICES), (5, REVIEWS)):
        # What Django remembers of its tables is read once.
        staff.get(address)
        for _ in range(2):
            with django_assert_num_queries(budget):
                assert staff.get(address).status_code == 200
            Price.objects.create(product_id="reviews", rate="best", amount_usdc=1, valid_from=timezone.now())


def test_who_may_only_look_can_take_no_price_back(db: None) -> None:
    default_products.create_missing()
    user = User.objects.create_user("looker@example.com", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=["view_price", "view_product"]))
    client = Client()
    client.force_login(user)
    Price.objects.update(valid_from=timezone.now() + timedelta(days=1))
    chosen = {
        "action": "cancel_prices",
        "confirmed": "yes",
        "_selected_action": [str(pk) for pk in Price.objects.values_list("pk", flat=True)],
    }
    client.post(PRICES, chosen)
    client.post(REVIEWS, form(rate="standard", amount_usdc="0.005"))
    assert Price.objects.count() == 40
