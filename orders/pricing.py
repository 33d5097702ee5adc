"""Pricing of orders: each line is rounded, then the lines are summed. Pure functions on Decimal."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

# ISO 4217, list one: the currencies whose minor unit is not a hundredth. CLF and UYW, with four decimals, are units of
# account, not means of payment.
DECIMALS = {
    **dict.fromkeys(
        ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV"), 0
    ),
    **dict.fromkeys(("XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}
DEFAULT_DECIMALS = 2
UNITS = {count: Decimal(1).scaleb(-count) for count in {DEFAULT_DECIMALS, *DECIMALS.values()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line to price: the unit price in the order's currency, and the tax in percent."""

    unit_price: Decimal
    quantity: int
    tax_percent: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedLine:
    """A priced line. `total` includes `tax` if the venue's prices do."""

    unit_price: Decimal
    total: Decimal
    tax: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """The priced lines, with `subtotal` + `tax` = `total`."""

    lines: tuple[PricedLine, ...]
    subtotal: Decimal
    tax: Decimal
    total: Decimal


def get_decimals(currency: str) -> int:
    """Return the number of decimals of the currency."""
    return DECIMALS.get(currency, DEFAULT_DECIMALS)


def round_amount(amount: Decimal, currency: str) -> Decimal:
    """Round the amount to the currency's decimals, half up."""
    return amount.quantize(UNITS[get_decimals(currency)], ROUND_HALF_UP)


def format_amount(amount: Decimal, currency: str) -> str:
    """Format the amount for the API and for display: `9.50`, and `950` for yen."""
    return f"{round_amount(amount, currency):f}"


def format_percent(percent: Decimal) -> str:
    """Format a tax rate without trailing zeros: `10`, `5.5`."""
    return f"{percent.normalize():f}"


def format_if_priced(amount: Decimal | None, currency: str) -> str | None:
    """Format an amount; None for an order without prices."""
    return None if amount is None else format_amount(amount, currency)


def price_line(line: Line, *, currency: str, includes_tax: bool) -> PricedLine:
    """Price a line. The unit price is rounded before the multiplication, so that a printed bill adds up."""
    unit_price = round_amount(line.unit_price, currency)
    total = unit_price * line.quantity
    tax = total * line.tax_percent / (100 + line.tax_percent if includes_tax else 100)
    return PricedLine(unit_price=unit_price, total=total, tax=round_amount(tax, currency))


def calculate_bill(lines: Sequence[Line], *, currency: str, prices_include_tax: bool) -> Bill:
    """Price the lines of an order. Their sum is the total if prices include tax, otherwise the subtotal."""
    priced = tuple(price_line(line, currency=currency, includes_tax=prices_include_tax) for line in lines)
    zero = round_amount(Decimal(0), currency)
    amount = sum((line.total for line in priced), zero)
    tax = sum((line.tax for line in priced), zero)
    total = amount if prices_include_tax else amount + tax
    return Bill(lines=priced, subtotal=total - tax, tax=tax, total=total)
