"""What orders come to, to the cent."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orders.pricing import Bill, Line, calculate_bill, convert_to_usdc, format_amount, get_decimals

CURRENCIES = st.sampled_from(["EUR", "USD", "JPY", "KWD"])
LINES = st.lists(
    st.builds(
        Line,
        unit_price=st.decimals(0, 9_999_999, places=3, allow_nan=False),
        quantity=st.integers(1, 999),
        tax_percent=st.decimals(0, 100, places=3, allow_nan=False),
    ),
    min_size=1,
    max_size=100,
)


def of(*lines: tuple[str, int, str], currency: str = "EUR", includes_tax: bool = True) -> Bill:
    """The bill of (price, quantity, tax in percent)."""
    each = [Line(unit_price=Decimal(price), quantity=number, tax_percent=Decimal(tax)) for price, number, tax in lines]
    return calculate_bill(each, currency=currency, prices_include_tax=includes_tax)


def sums(found: Bill, currency: str = "EUR") -> tuple[str, str, str]:
    """Subtotal, tax and total as they are written."""
    return (
        format_amount(found.subtotal, currency),
        format_amount(found.tax, currency),
        format_amount(found.total, currency),
    )


def test_two_pizzas_at_9_50_with_10_percent_inside() -> None:
    found = of(("9.50", 2, "10"))
    assert sums(found) == ("17.27", "1.73", "19.00")
    assert [format_amount(line.total, "EUR") for line in found.lines] == ["19.00"]


@pytest.mark.parametrize(
    ("lines", "currency", "includes_tax", "expected"),
    [
        ([("9.50", 2, "10")], "EUR", False, ("19.00", "1.90", "20.90")),
        # Each line's tax is rounded by itself: 0.045 up to 0.05, twice.
        ([("0.45", 1, "10"), ("0.45", 1, "10")], "EUR", False, ("0.90", "0.10", "1.00")),
        ([("0.90", 1, "10")], "EUR", False, ("0.90", "0.09", "0.99")),
        # Rates of two kinds: 12.00 at 10 %, 5.00 at 22 %.
        ([("12.00", 1, "10"), ("2.50", 2, "22")], "EUR", True, ("15.01", "1.99", "17.00")),
        ([("950", 2, "10")], "JPY", True, ("1727", "173", "1900")),
        ([("950", 1, "8")], "JPY", False, ("950", "76", "1026")),
        ([("1.250", 3, "5")], "KWD", False, ("3.750", "0.188", "3.938")),
        ([("8.00", 1, "0")], "EUR", True, ("8.00", "0.00", "8.00")),
        ([("0", 999, "22")], "EUR", True, ("0.00", "0.00", "0.00")),
        ([("4.00", 1, "100")], "EUR", True, ("2.00", "2.00", "4.00")),
        ([("9999999.99", 999, "22")], "EUR", False, ("9989999990.01", "2197799997.80", "12187799987.81")),
    ],
)
def test_what_an_order_comes_to(
    lines: list[tuple[str, int, str]], currency: str, includes_tax: bool, expected: tuple[str, str, str]
) -> None:
    assert sums(of(*lines, currency=currency, includes_tax=includes_tax), currency) == expected


@pytest.mark.parametrize(
    ("currency", "number"), [("EUR", 2), ("USD", 2), ("JPY", 0), ("KRW", 0), ("XOF", 0), ("KWD", 3), ("TND", 3)]
)
def test_a_currency_has_the_digits_of_iso_4217(currency: str, number: int) -> None:
    assert get_decimals(currency) == number


def test_an_amount_is_written_with_its_digits_and_half_a_cent_goes_up() -> None:
    amounts = [("9.5", "EUR"), ("0.005", "EUR"), ("0.004", "EUR"), ("950.000", "JPY"), ("1", "KWD"), ("1E+3", "EUR")]
    assert [format_amount(Decimal(amount), currency) for amount, currency in amounts] == [
        "9.50",
        "0.01",
        "0.00",
        "950",
        "1.000",
        "1000.00",
    ]


def test_a_price_of_more_digits_than_its_currency_is_rounded_before_it_is_multiplied() -> None:
    found = of(("0.125", 3, "0"))
    assert (found.lines[0].unit_price, found.lines[0].total) == (Decimal("0.13"), Decimal("0.39"))


# A busy machine is no fault of the arithmetic.
@pytest.mark.exhaustive
@settings(deadline=None)
@given(LINES, CURRENCIES, st.booleans())
def test_a_bill_adds_up_whatever_is_ordered(lines: list[Line], currency: str, includes_tax: bool) -> None:
    found = calculate_bill(lines, currency=currency, prices_include_tax=includes_tax)
    assert found.subtotal + found.tax == found.total
    assert sum(line.total for line in found.lines) == (found.total if includes_tax else found.subtotal)
    assert sum(line.tax for line in found.lines) == found.tax
    for line, priced in zip(lines, found.lines, strict=True):
        assert priced.total == priced.unit_price * line.quantity
        assert abs(priced.unit_price - line.unit_price) * 2 <= Decimal(1).scaleb(-get_decimals(currency))
        assert 0 <= priced.tax <= priced.total
    for amount in (found.subtotal, found.tax, found.total, *(line.total for line in found.lines)):
        assert amount >= 0
        assert Decimal(format_amount(amount, currency)) == amount
        assert -int(amount.as_tuple().exponent) == get_decimals(currency)


def test_an_amount_in_usdc_is_rounded_up_and_one_that_is_too_large_is_none() -> None:
    assert convert_to_usdc(Decimal("9.50"), price=Decimal("1.1")) == Decimal("8.636364")
    assert convert_to_usdc(Decimal(99_999_999), price=Decimal("0.01")) is None
    assert convert_to_usdc(Decimal("9.99e14"), price=Decimal("0.000001")) is None
