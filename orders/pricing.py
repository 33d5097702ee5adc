"""What an order costs: lines are rounded one by one, then summed. Pure: amounts in, amounts out, always Decimal."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

# ISO 4217, list one: the currencies whose minor unit is not a hundredth. CLF and UYW, which count four digits, are
# units of account that nobody pays a meal in.
DIGITS = {
    **dict.fromkeys(
        ("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV"), 0
    ),
    **dict.fromkeys(("XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
}
USUAL_DIGITS = 2
UNITS = {count: Decimal(1).scaleb(-count) for count in {USUAL_DIGITS, *DIGITS.values()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """So many of one thing, at a price in the order's currency and a tax in percent."""

    unit_price: Decimal
    quantity: int
    tax_percent: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedLine:
    """A line with what it comes to. Whether `total` holds `tax` is as the venue's prices are."""

    unit_price: Decimal
    total: Decimal
    tax: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """The lines in their order, and what they come to: `subtotal` and `tax` are `total`."""

    lines: tuple[PricedLine, ...]
    subtotal: Decimal
    tax: Decimal
    total: Decimal


def digits(currency: str) -> int:
    """How many digits an amount of this currency has behind the point."""
    return DIGITS.get(currency, USUAL_DIGITS)


def rounded(amount: Decimal, currency: str) -> Decimal:
    """The amount with the currency's digits; half a unit goes up."""
    return amount.quantize(UNITS[digits(currency)], ROUND_HALF_UP)


def written(amount: Decimal, currency: str) -> str:
    """The amount as it stands on the wire and on a bill: `9.50`, and `950` for yen."""
    return f"{rounded(amount, currency):f}"


def priced(line: Line, *, currency: str, includes_tax: bool) -> PricedLine:
    """One line. The price of one is rounded before it is multiplied, so that a bill adds up as it is printed."""
    unit_price = rounded(line.unit_price, currency)
    total = unit_price * line.quantity
    tax = total * line.tax_percent / (100 + line.tax_percent if includes_tax else 100)
    return PricedLine(unit_price=unit_price, total=total, tax=rounded(tax, currency))


def bill(lines: Sequence[Line], *, currency: str, prices_include_tax: bool) -> Bill:
    """All lines of an order: of prices that include tax the lines are the total, of others the subtotal."""
    each = tuple(priced(line, currency=currency, includes_tax=prices_include_tax) for line in lines)
    nothing = rounded(Decimal(0), currency)
    amount = sum((line.total for line in each), nothing)
    tax = sum((line.tax for line in each), nothing)
    total = amount if prices_include_tax else amount + tax
    return Bill(lines=each, subtotal=total - tax, tax=tax, total=total)
