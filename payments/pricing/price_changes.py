"""Changes of prices: set prices, end a sale, cancel future prices, and set the minimum tier of a product."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from django.db import transaction

from framework.errors import ApiError, InvalidRequest, unknown_name
from payments.formatting import format_amount, format_time
from payments.models import Price, Product
from payments.tiers.definitions import FREE, TIERS, Tier

# Official x402 clients pay up to this amount for a call without another setting (`maxValue`).
MAX_UNCONFIRMED_USDC = Decimal(1)
# The limits of Price.amount_usdc.
MAX_AMOUNT = Decimal(10) ** 14
USDC_UNIT = Decimal("0.000001")
RATES = [tier.rate for tier in TIERS.values()]


class ConfirmationRequired(ApiError):
    """An unusual change, which has to be confirmed."""

    def __init__(self, warnings: Sequence[str]) -> None:
        super().__init__(" ".join(warnings))
        self.warnings = tuple(warnings)


@dataclass(frozen=True, slots=True)
class NewPrice:
    """A price to set: `amount` in USDC, None ends the sale at this rate; without `valid_from` it applies now."""

    rate: str
    amount: Decimal | None
    valid_from: datetime | None = None


def get_product(slug: str) -> Product:
    """Return the product. Raises InvalidRequest with the known products."""
    products = Product.objects.in_bulk()
    if slug not in products:
        raise InvalidRequest(unknown_name("product", slug, sorted(products)).message)
    return products[slug]


def list_price_history(product: Product) -> list[Price]:
    """Return all past, current and future prices: by rate from the standard one on, newest first. One query."""
    return sorted(product.prices.order_by("-valid_from", "-pk"), key=lambda price: RATES.index(price.rate))


def validate_changes(
    product: Product, changes: Sequence[NewPrice], *, now: datetime, is_confirmed: bool = False
) -> list[Price]:
    """Return the unsaved rows for these changes; none for a change without effect. One query.

    Raises InvalidRequest for impossible changes. Raises ConfirmationRequired, unless `is_confirmed`, for a price above
    what clients pay by default, for a higher tier that pays more than a lower one, and for a product without a
    standard price.
    """
    rows = list(product.prices.all())
    # After all earlier prices, also if this transaction has waited for a lock since `now`.
    now = max([now, *(price.created_at + timedelta(microseconds=1) for price in rows)])
    new_rows: list[Price] = []
    for change in changes:
        valid_from = change.valid_from or now
        _validate_change(change, valid_from, rows, now)
        if amount_at(rows, change.rate, valid_from) != change.amount:
            price = Price(
                product=product, rate=change.rate, amount_usdc=change.amount, valid_from=valid_from, created_at=now
            )
            new_rows.append(price)
            rows.append(price)
    warnings = () if is_confirmed else tuple(_warnings(rows, new_rows))
    if warnings:
        raise ConfirmationRequired(warnings)
    return new_rows


@transaction.atomic
def set_prices(
    product: Product, changes: Sequence[NewPrice], *, by: str, now: datetime, is_confirmed: bool = False
) -> list[Price]:
    """Set these prices, all or none, and return the new rows. Three queries. Raises as `validate_changes`.

    The row of the product is locked, so that the validation still holds when the prices are inserted.
    """
    # Loaded again: `product` may have prices that were prefetched before the lock.
    locked = Product.objects.select_for_update().get(pk=product.pk)
    new_rows = validate_changes(locked, changes, now=now, is_confirmed=is_confirmed)
    for price in new_rows:
        price.by = by[:80]
    return Price.objects.bulk_create(new_rows)


@transaction.atomic
def set_tier_price(
    product: Product, price: NewPrice, *, tier: Tier, by: str, now: datetime, is_confirmed: bool
) -> tuple[list[Price], bool]:
    """Sell the product to this tier at this price; return the new rows, and whether it was opened to the tier.

    Raises as `validate_changes`, and InvalidRequest for a future price at a tier that the product is not sold to: the
    minimum tier changes at once.
    """
    locked = Product.objects.select_for_update().get(pk=product.pk)
    opens = tier < TIERS[locked.from_tier]
    if opens and price.valid_from is not None and price.valid_from > now:
        raise InvalidRequest(
            f"{product.slug} is not sold to {tier.name} yet, and opening it cannot wait: leave the moment "
            "away, or open it when the time has come."
        )
    new_rows = set_prices(product, [price], by=by, now=now, is_confirmed=is_confirmed)
    if opens:
        set_minimum_tier(product, tier)
    return new_rows, opens


def set_minimum_tier(product: Product, tier: Tier, *, is_confirmed: bool = False) -> bool:
    """Sell the product from this tier on; False if it was so already. Two statements.

    Raises ConfirmationRequired, unless `is_confirmed`, if that ends the sale to a lower tier.
    """
    sold_from = Product.objects.values_list("from_tier", flat=True).get(pk=product.pk)
    ended = [each.name for each in TIERS.values() if TIERS[sold_from] <= each < tier]
    if ended and not is_confirmed:
        raise ConfirmationRequired((f"This ends the sale of {product.slug} to {', '.join(ended)}.",))
    return bool(Product.objects.filter(pk=product.pk).exclude(from_tier=tier.name).update(from_tier=tier.name))


def cancel_prices(prices: Iterable[int], *, now: datetime) -> int:
    """Delete the prices that have not started, and return their number. One statement."""
    return Price.objects.filter(pk__in=list(prices), valid_from__gt=now).delete()[0]


def amount_at(prices: Iterable[Price], rate: str, moment: datetime) -> Decimal | None:
    """Return the price at this rate at this time; None if it is not sold."""
    started = [price for price in prices if price.rate == rate and price.valid_from <= moment]
    return max(started, key=_sort_key).amount_usdc if started else None


def upcoming(prices: Iterable[Price], rate: str, now: datetime) -> list[Price]:
    """Return the future prices at this rate, the next one first."""
    return sorted((price for price in prices if price.rate == rate and price.valid_from > now), key=_sort_key)


def _sort_key(price: Price) -> tuple[datetime, int]:
    return price.valid_from, price.pk or 0


def _validate_change(change: NewPrice, valid_from: datetime, rows: Sequence[Price], now: datetime) -> None:
    if change.rate not in RATES:
        raise InvalidRequest(unknown_name("rate", change.rate, RATES).message)
    if valid_from < now:
        raise InvalidRequest("A price begins now or later: what was paid in the past stays as it was.")
    if change.amount is not None:
        if not change.amount.is_finite() or change.amount <= 0:
            raise InvalidRequest("A price is above zero; what is free is no product.")
        if change.amount >= MAX_AMOUNT:
            raise InvalidRequest(f"A price is below {MAX_AMOUNT:f} USDC.")
        if change.amount != change.amount.quantize(USDC_UNIT):
            raise InvalidRequest("USDC has six decimal places: 0.000001 is the smallest price.")
    same_time = [price for price in rows if price.rate == change.rate and price.valid_from == valid_from]
    if same_time and same_time[0].amount_usdc != change.amount:
        raise InvalidRequest(
            f"From {format_time(valid_from)} on the {change.rate} price is to be"
            f" {format_amount(same_time[0].amount_usdc)}: cancel that first."
        )


def _warnings(rows: Sequence[Price], new_rows: Sequence[Price]) -> Iterable[str]:
    """Yield what is unusual in the prices with the new rows."""
    for price in new_rows:
        if price.amount_usdc is not None and price.amount_usdc > MAX_UNCONFIRMED_USDC:
            yield (
                f"{format_amount(price.amount_usdc)} USDC is more than the 1 USD that x402 clients pay for a call by"
                " default."
            )
        if price.amount_usdc is None and price.rate == FREE.rate:
            yield "Callers without a proven wallet are quoted the standard price: without one they cannot buy at all."
    if not new_rows:
        return
    changed_rates = {price.rate for price in new_rows}
    first = min(price.valid_from for price in new_rows)
    reported = set[str]()
    for moment in sorted({price.valid_from for price in rows if price.valid_from >= first}):
        amounts = [(tier, amount_at(rows, tier.rate, moment)) for tier in TIERS.values()]
        sold = [(tier, amount) for tier, amount in amounts if amount is not None]
        for (lower, lower_amount), (higher, higher_amount) in pairwise(sold):
            warning = (
                f"{higher.name.capitalize()} would pay {format_amount(higher_amount)}"
                f" and {lower.name.capitalize()} only {format_amount(lower_amount)}."
            )
            is_changed = bool(changed_rates & {lower.rate, higher.rate})
            if higher_amount > lower_amount and is_changed and warning not in reported:
                reported.add(warning)
                yield f"From {format_time(moment)} on {warning}"
