"""What products cost, and for how long a price is honoured."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from payments.models import Price, Product
from payments.pricing import default_products, price_list
from payments.pricing.price_changes import MAX_UNCONFIRMED_USDC
from payments.pricing.price_list import NotSold
from payments.tiers.definitions import ENTERPRISE, FREE, PREMIUM, PRO, TIERS
from payments.tiers.terms import STANDARD, Terms, tier_terms

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
OLD = NOW - timedelta(days=30)

pytestmark = pytest.mark.django_db


def sell(slug: str, *, from_tier: str = "free", since: datetime = OLD, **amounts: str) -> Product:
    """A product with a price at some rates."""
    product, _ = Product.objects.get_or_create(slug=slug, defaults={"name": slug.title(), "from_tier": from_tier})
    for rate, amount in amounts.items():
        product.prices.create(rate=rate, amount_usdc=Decimal(amount), valid_from=since)
    return product


def amounts(*products: str, now: datetime = NOW, several: tuple[Terms, ...] = (STANDARD,)) -> set[Decimal]:
    """What is acceptable."""
    return set(price_list.load_price_list(products, now=now).acceptable(several))


def test_several_products_cost_their_sum_from_the_highest_of_their_tiers() -> None:
    sell("context", standard="0.002", best="0.001")
    sell("reviews", from_tier="pro", standard="0.004", best="0.002")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        found = price_list.load_price_list(["reviews", "context"], now=NOW).quote(tier_terms(PREMIUM))
    assert (found.products, found.amount, found.from_tier) == (("reviews", "context"), Decimal("0.003"), PRO)
    assert found.description == "Reviews, Context"
    assert len(queries) == 1


def test_the_price_is_the_latest_that_is_valid() -> None:
    sell("context", standard="0.002")
    sell("context", standard="0.003", since=NOW - timedelta(hours=1))
    sell("context", standard="0.009", since=NOW + timedelta(seconds=1))
    assert price_list.load_price_list(["context"], now=NOW).quote(STANDARD).amount == Decimal("0.003")


def test_a_price_holds_from_its_very_moment() -> None:
    sell("context", standard="0.002")
    sell("context", standard="0.003", since=NOW)
    assert price_list.load_price_list(["context"], now=NOW).quote(STANDARD).amount == Decimal("0.003")


def test_a_price_that_changed_is_honoured_for_a_minute() -> None:
    sell("context", standard="0.002")
    sell("context", standard="0.003", since=NOW)
    old, new = Decimal("0.002"), Decimal("0.003")
    assert amounts("context", now=NOW - timedelta(seconds=1)) == {old}
    assert amounts("context", now=NOW) == {old, new}
    assert amounts("context", now=NOW + timedelta(seconds=59)) == {old, new}
    assert amounts("context", now=NOW + timedelta(seconds=60)) == {new}


def test_of_two_prices_that_change_one_after_the_other_each_sum_was_once_the_price() -> None:
    sell("a", standard="1")
    sell("b", standard="10")
    sell("a", standard="2", since=NOW - timedelta(seconds=40))
    sell("b", standard="20", since=NOW - timedelta(seconds=20))
    # 1 + 20 was never asked for.
    assert amounts("a", "b") == {Decimal(11), Decimal(12), Decimal(22)}


def test_each_rate_that_is_named_is_accepted() -> None:
    default_products.create_missing()
    now = datetime.now(tz=UTC)
    assert amounts("reviews", now=now, several=(STANDARD, tier_terms(PRO))) == {Decimal("0.004"), Decimal("0.003")}


@pytest.mark.parametrize("products", [["history"], ["context", "history"], []])
def test_what_has_no_price_is_not_sold(products: list[str]) -> None:
    sell("context", standard="0.002")
    sell("history")
    with pytest.raises(NotSold) as caught:
        price_list.load_price_list(products, now=NOW).quote(STANDARD)
    assert caught.value.status == 503
    assert ("history" if products else "Nothing") in caught.value.message


def test_what_has_no_price_yet_is_not_sold() -> None:
    sell("context", standard="0.002", since=NOW + timedelta(seconds=1))
    with pytest.raises(NotSold):
        price_list.load_price_list(["context"], now=NOW).quote(STANDARD)


def test_a_rate_without_a_price_is_not_sold_at_that_rate() -> None:
    sell("context", standard="0.002")
    with pytest.raises(NotSold, match="committed"):
        price_list.load_price_list(["context"], now=NOW).quote(tier_terms(ENTERPRISE))


def test_a_fresh_installation_sells_ten_products_at_four_rates() -> None:
    default_products.create_missing()
    default_products.create_missing()
    found = {
        slug: (
            product.from_tier,
            [
                price_list.load_price_list([slug], now=datetime.now(tz=UTC)).quote(tier_terms(tier)).amount
                for tier in TIERS.values()
            ],
        )
        for slug, product in Product.objects.in_bulk().items()
    }
    assert found == {
        "reviews": (PRO.name, [Decimal(text) for text in ("0.004", "0.003", "0.002", "0.001")]),
        "context": (FREE.name, [Decimal(text) for text in ("0.002", "0.0015", "0.001", "0.0005")]),
        "ai_insight": (PREMIUM.name, [Decimal(text) for text in ("0.01", "0.008", "0.006", "0.003")]),
        "photos": (PRO.name, [Decimal(text) for text in ("0.003", "0.002", "0.0015", "0.001")]),
        "history": (PREMIUM.name, [Decimal(text) for text in ("0.01", "0.008", "0.006", "0.003")]),
        "export_restaurants": (ENTERPRISE.name, [Decimal(text) for text in ("0.9", "0.8", "0.7", "0.5")]),
        "export_reviews": (ENTERPRISE.name, [Decimal(text) for text in ("1", "0.95", "0.9", "0.8")]),
        "export_photos": (ENTERPRISE.name, [Decimal(text) for text in ("0.6", "0.5", "0.4", "0.3")]),
        "export_landmarks": (ENTERPRISE.name, [Decimal(text) for text in ("0.3", "0.25", "0.2", "0.1")]),
        "export_history": (ENTERPRISE.name, [Decimal(text) for text in ("1", "0.95", "0.9", "0.8")]),
    }
    assert Price.objects.count() == 40
    # What official clients pay unasked.
    assert max(max(amounts) for _, amounts in found.values()) == MAX_UNCONFIRMED_USDC


def test_seeding_again_keeps_what_staff_have_changed() -> None:
    default_products.create_missing()
    Product.objects.filter(slug="reviews").update(from_tier="free", name="Reviews")
    sell("reviews", standard="0.005", since=datetime.now(tz=UTC))
    default_products.create_missing()
    now = datetime.now(tz=UTC)
    found = price_list.load_price_list(["reviews"], now=now).quote(STANDARD)
    assert (found.amount, found.from_tier, found.description) == (Decimal("0.005"), FREE, "Reviews")
    assert price_list.current_prices(now=now)["reviews"]["standard"] == Decimal("0.005")
