"""`manage.py price`: what products cost, and the verbs that change it."""

import io
import json
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone

from payments.models import Price, Product
from payments.pricing import price_changes, price_list
from payments.pricing.price_changes import NewPrice
from payments.tiers.definitions import TIERS
from payments.tiers.terms import STANDARD

pytestmark = pytest.mark.usefixtures("prices")


def price(*words: str) -> str:
    """What the command prints."""
    out = io.StringIO()
    call_command("price", *words, stdout=out)
    return out.getvalue()


def content(*words: str) -> dict[str, Any]:
    """What the command prints for programs."""
    return dict(json.loads(price(*words, "--json")))


def refused(*words: str) -> str:
    """Why the command does nothing."""
    before = list(Price.objects.order_by("pk").values()), list(Product.objects.order_by("pk").values())
    with pytest.raises(CommandError) as caught:
        price(*words)
    assert (list(Price.objects.order_by("pk").values()), list(Product.objects.order_by("pk").values())) == before
    return str(caught.value)


def test_a_price_for_a_tier_opens_the_product_to_it() -> None:
    text = content("set", "reviews", "free", "0.005")
    assert [(each["rate"], each["amount"]) for each in text["set"]] == [("standard", "0.005")]
    assert (text["from_tier"], Product.objects.get(pk="reviews").from_tier) == ("free", "free")
    assert price_list.load_price_list(["reviews"], now=timezone.now()).quote(STANDARD).amount == Decimal("0.005")
    assert Price.objects.latest("pk").by.startswith("command")


def test_what_is_so_already_is_not_set_again() -> None:
    assert "reviews is sold from the free tier on." in price("set", "reviews", "free", "0.004")
    assert price("set", "reviews", "free", "0.00400") == "reviews: that is so already.\n"
    assert price("open", "reviews", "free") == "reviews: that is so already.\n"
    assert price("cancel", "reviews", "free") == "reviews: there is no future price.\n"
    assert Price.objects.count() == 40


def test_a_price_for_a_tier_above_does_not_withdraw_the_product_from_those_below() -> None:
    assert content("set", "context", "enterprise", "0.0004")["from_tier"] == "free"


def test_a_product_is_withdrawn_from_the_tiers_below() -> None:
    assert price("open", "context", "premium", "--yes") == "context is sold from the premium tier on.\n"
    assert Product.objects.get(pk="context").from_tier == "premium"


def test_a_future_price_is_set_listed_and_cancelled() -> None:
    text = price("set", "context", "free", "0.003", "--from", "2099-12-01T00:00Z")
    assert text == "context, standard: 0.003 from 2099-12-01 00:00 UTC.\n"
    assert price_list.load_price_list(["context"], now=timezone.now()).quote(STANDARD).amount == Decimal("0.002")
    later = datetime(2099, 12, 1, tzinfo=UTC)
    assert price_list.load_price_list(["context"], now=later).quote(STANDARD).amount == Decimal("0.003")
    assert "0.003 from 2099-12-01 00:00 UTC" in price("list")
    listed = {each["product"]: each for each in content("list")["data"]}
    assert [each["amount"] for each in listed["context"]["upcoming"]] == ["0.003"]
    assert listed["context"]["prices"]["standard"] == "0.002"
    assert "cancel that first" in refused("set", "context", "free", "0.004", "--from", "2099-12-01T00:00Z")
    assert price("cancel", "context", "free") == "context: 1 cancelled.\n"
    assert Price.objects.count() == 40


def test_a_price_to_come_does_not_open_a_product_before_its_time() -> None:
    assert "is not sold to free yet" in refused("set", "reviews", "free", "0.005", "--from", "2099-12-01T00:00Z")


def test_the_sale_at_a_rate_ends_and_begins_again() -> None:
    assert "context, best: not sold from " in price("close", "context", "premium")
    assert "best" not in price_list.current_prices(now=timezone.now())["context"]
    assert content("set", "context", "premium", "0.001")["set"][0]["amount"] == "0.001"
    amounts = [(each["rate"], each["amount"]) for each in content("history", "context")["data"]]
    assert [amount for rate, amount in amounts if rate == "best"] == ["0.001", None, "0.001"]
    assert [rate for rate, _ in amounts] == ["standard", "discounted", "best", "best", "best", "committed"]
    assert "not sold" in price("history", "context")


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ["set", "review", "free", "1"],
            "Unknown product `review`. Did you mean `reviews`? Known: ai_insight, context, ",
        ),
        (
            ["set", "reviews", "fre", "1"],
            "Unknown tier `fre`. Did you mean `free`? Known: free, pro, premium, enterprise",
        ),
        (["set", "reviews", "free", "cheap"], "`cheap` is no price"),
        (["set", "reviews", "free", "NaN"], "A price is above zero"),
        (["set", "reviews", "free", "0"], "A price is above zero"),
        (["set", "reviews", "free", "0.0000001"], "six decimal places"),
        (["set", "reviews", "free", "1e30", "--yes"], "A price is below "),
        (["set", "reviews", "free", "99999999999999999999", "--yes"], "A price is below "),
        (
            ["open", "context", "enterprise"],
            "This ends the sale of context to free, pro, premium. Nothing was changed.",
        ),
        (["set", "context", "free", "0.003", "--from", "soon"], "`soon` is no time"),
        (["set", "context", "free", "0.003", "--from", "2099-12-01T00:00"], "is no time with its zone"),
        (["set", "context", "free", "0.003", "--from", "2099-13-01T00:00Z"], "is no time"),
        (["set", "context", "free", "0.003", "--from", "2020-01-01T00:00Z"], "A price begins now or later"),
        (["history", "nothing"], "Unknown product `nothing`."),
        (["close", "context", "free"], "they cannot buy at all. Nothing was changed. Add --yes if you mean it."),
        (["set", "context", "free", "1.5"], "1.5 USDC is more than the 1 USD"),
        (["set", "context", "pro", "0.01"], "Pro would pay 0.01 and Free only 0.002."),
    ],
)
def test_invalid_arguments_are_refused_and_change_nothing(words: list[str], why: str) -> None:
    assert why in refused(*words)


def test_doubts_are_overruled_by_who_means_it() -> None:
    assert content("set", "context", "pro", "1.5", "--yes")["set"][0]["amount"] == "1.5"


def test_a_doubt_looks_at_the_prices_to_come_too() -> None:
    price("set", "context", "free", "0.0016", "--from", "2099-12-01T00:00Z")
    assert "From 2099-12-01 00:00 UTC on Pro would pay 0.0018" in refused("set", "context", "pro", "0.0018")


def test_of_two_who_set_the_same_price_at_once_one_writes_it() -> None:
    both = threading.Barrier(2)
    written = list[int]()

    def set_it() -> None:
        both.wait()
        product = Product.objects.get(pk="context")
        wanted = [NewPrice("standard", Decimal("0.0025"))]
        written.append(len(price_changes.set_prices(product, wanted, by="test", now=timezone.now())))
        connection.close()

    together(set_it)
    assert sorted(written) == [0, 1]
    assert Price.objects.count() == 41


def test_of_two_prices_that_do_not_go_together_the_later_one_is_doubted() -> None:
    both = threading.Barrier(2)
    doubted = list[str]()
    # Apart each is right; together Pro would pay more than Free.
    wanted = iter([NewPrice("standard", Decimal("0.0016")), NewPrice("discounted", Decimal("0.0018"))])

    def set_it() -> None:
        both.wait()
        product = Product.objects.get(pk="context")
        try:
            price_changes.set_prices(product, [next(wanted)], by="test", now=timezone.now())
        except price_changes.ConfirmationRequired as doubtful:
            doubted.append(doubtful.message)
        connection.close()

    together(set_it)
    assert len(doubted) == 1
    assert Price.objects.count() == 41
    for moment in (timezone.now(), timezone.now() + timedelta(days=1)):
        amounts = price_list.current_prices(now=moment)["context"]
        paid = [amounts[tier.rate] for tier in TIERS.values()]
        assert paid == sorted(paid, reverse=True)


def together(run: Callable[[], None]) -> None:
    """Run it in two threads."""
    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
