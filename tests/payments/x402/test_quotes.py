"""Amounts that name a quote: one for each caller and purchase, and no caller takes all of a price."""

from datetime import UTC, datetime

import pytest

from payments.x402 import quotes

NOW = datetime(2026, 11, 24, 12, tzinfo=UTC)


def quote(purchase: str, *, origin: str = "home") -> int:
    return quotes.quote_amount(2000, origin=origin, purchase=purchase, now=NOW)


def test_a_repeated_request_is_quoted_the_same_amount() -> None:
    amount = quote("noma")
    assert 2000 < amount <= 2999
    assert quote("noma") == amount
    assert quotes.is_quoted(amount, origin="home", purchase="noma", mined_at=NOW)
    assert not quotes.is_quoted(amount, origin="elsewhere", purchase="noma", mined_at=NOW)
    assert not quotes.is_quoted(amount, origin="home", purchase="geranium", mined_at=NOW)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("price", "most"), [(2, 1), (9, 4), (500, 250), (1000, 500), (1998, 999), (2000, 999), (1_000_000, 999)]
)
def test_the_surcharge_is_at_most_half_of_the_price_and_a_tenth_of_a_cent(price: int, most: int) -> None:
    amounts = [
        quotes.quote_amount(price, origin=f"caller-{number}", purchase=f"{price}", now=NOW) - price
        for number in range(300)
    ]
    assert 0 <= min(amounts) <= max(amounts) <= most
    assert max(amounts) > most * 0.8


def test_a_price_of_one_millionth_has_no_surcharge() -> None:
    assert quotes.quote_amount(1, origin="home", purchase="noma", now=NOW) == 1


@pytest.mark.exhaustive
def test_a_caller_who_asks_for_all_amounts_of_a_price_leaves_the_others_theirs() -> None:
    amounts = [quote(f"restaurant-{number}") for number in range(quotes.MAX_QUOTES_PER_CALLER + 20)]
    own = [amount for amount in amounts if amount != 2000]
    assert len(own) == len(set(own)) == quotes.MAX_QUOTES_PER_CALLER
    assert amounts[quotes.MAX_QUOTES_PER_CALLER :] == [2000] * 20
    assert 2000 < quote("noma", origin="elsewhere") <= 2999
