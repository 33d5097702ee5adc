"""Pricing of orders: each line is rounded, then the lines are summed. Pure functions on Decimal."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, ROUND_UP, Decimal

from django.utils.translation import gettext as _

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
USDC_UNIT = Decimal("0.000001")
# An order in USDC costs less.
MAX_USDC = Decimal(10**9)
UNITS = {count: Decimal(1).scaleb(-count) for count in {DEFAULT_DECIMALS, *DECIMALS.values()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line to price: the unit price in the order's currency, what its modifiers add, and the tax in percent."""

    unit_price: Decimal
    quantity: int
    tax_percent: Decimal
    modifiers: Sequence[Decimal] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """A charge to price: an amount, or a percentage of the sum of the lines. Free from a sum of `free_from` on."""

    amount: Decimal | None
    percent: Decimal | None
    tax_percent: Decimal
    free_from: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedLine:
    """A priced line. `unit_price` includes its modifiers; `total` includes `tax` if the venue's prices do."""

    unit_price: Decimal
    total: Decimal
    tax: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Bill:
    """The priced lines, and the amount of each charge, with `subtotal` + `tax` + the tip = `total`."""

    lines: tuple[PricedLine, ...]
    charges: tuple[Decimal, ...]
    subtotal: Decimal
    tax: Decimal
    total: Decimal


def convert_to_usdc(amount: Decimal, *, price: Decimal) -> Decimal | None:
    """Return what the amount is in USDC, rounded up to its smallest unit; `price` is that of one USDC.

    None for what is too much to be stored: at a mistyped price.
    """
    usdc = amount / price
    return usdc.quantize(USDC_UNIT, ROUND_UP) if usdc < MAX_USDC else None


def get_decimals(currency: str) -> int:
    """Return the number of decimals of the currency."""
    return DECIMALS.get(currency, DEFAULT_DECIMALS)


def round_amount(amount: Decimal, currency: str) -> Decimal:
    """Round the amount to the currency's decimals, half up."""
    return amount.quantize(UNITS[get_decimals(currency)], ROUND_HALF_UP)


def find_decimals_error(amount: Decimal | None, currency: str) -> str | None:
    """Return what is wrong with an amount that has more decimals than the currency."""
    if amount is None or amount == round_amount(amount, currency):
        return None
    message = _("An amount in %(currency)s has at most %(decimals)s decimals.")
    return message % {"currency": currency, "decimals": get_decimals(currency)}


def format_amount(amount: Decimal, currency: str) -> str:
    """Format the amount for the API and for display: `9.50`, and `950` for yen."""
    return f"{round_amount(amount, currency):f}"


def format_percent(percent: Decimal) -> str:
    """Format a tax rate without trailing zeros: `10`, `5.5`."""
    return f"{percent.normalize():f}"


def format_if_priced(amount: Decimal | None, currency: str) -> str | None:
    """Format an amount; None for an order without prices."""
    return None if amount is None else format_amount(amount, currency)


def calculate_tax(amount: Decimal, percent: Decimal, *, currency: str, includes_tax: bool) -> Decimal:
    """Return the rounded tax in the amount, or on it."""
    return round_amount(amount * percent / (100 + percent if includes_tax else 100), currency)


def price_line(line: Line, *, currency: str, includes_tax: bool) -> PricedLine:
    """Price a line. Each price is rounded before the sum and the multiplication, so that a printed bill adds up."""
    unit_price = sum(
        (round_amount(price, currency) for price in line.modifiers), round_amount(line.unit_price, currency)
    )
    total = unit_price * line.quantity
    tax = calculate_tax(total, line.tax_percent, currency=currency, includes_tax=includes_tax)
    return PricedLine(unit_price=unit_price, total=total, tax=tax)


def price_charge(charge: Charge, *, goods: Decimal, currency: str) -> Decimal:
    """Return the amount of a charge for lines that sum up to `goods`."""
    if charge.free_from is not None and goods >= charge.free_from:
        return round_amount(Decimal(0), currency)
    amount = goods * charge.percent / 100 if charge.percent is not None else charge.amount or Decimal(0)
    return round_amount(amount, currency)


def calculate_bill(
    lines: Sequence[Line],
    *,
    currency: str,
    prices_include_tax: bool,
    charges: Sequence[Charge] = (),
    tip: Decimal = Decimal(0),
) -> Bill:
    """Price the lines and charges of an order. A tip has no tax.

    The sum of the lines and charges is the total less the tip if prices include tax, otherwise the subtotal.
    """
    priced = tuple(price_line(line, currency=currency, includes_tax=prices_include_tax) for line in lines)
    zero = round_amount(Decimal(0), currency)
    goods = sum((line.total for line in priced), zero)
    amounts = tuple(price_charge(charge, goods=goods, currency=currency) for charge in charges)
    tax = sum((line.tax for line in priced), zero)
    for charge, amount in zip(charges, amounts, strict=True):
        tax += calculate_tax(amount, charge.tax_percent, currency=currency, includes_tax=prices_include_tax)
    amount = sum(amounts, goods)
    subtotal = amount - tax if prices_include_tax else amount
    return Bill(lines=priced, charges=amounts, subtotal=subtotal, tax=tax, total=subtotal + tax + tip)
