"""The verbs that change what products cost: set prices, end the sale at a rate, take back, open to a tier."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

from django.db import transaction

from framework.errors import ApiError, InvalidRequest, unknown_name
from payments.models import Price, Product
from payments.tiers.definitions import FREE, TIERS, Tier

# What official clients pay for one call without being told to pay more (x402, `maxValue`).
PAID_UNASKED = Decimal(1)
# As Price.amount_usdc holds them.
MOST = Decimal(10) ** 14
DIGITS = Decimal("0.000001")
TIER_OF_RATE = {tier.rate: tier for tier in TIERS.values()}


class Doubtful(ApiError):
    """Something that hardly anybody means. It is done for who says that they do."""

    def __init__(self, doubts: Sequence[str]) -> None:
        super().__init__(" ".join(doubts))
        self.doubts = tuple(doubts)


@dataclass(frozen=True, slots=True)
class NewPrice:
    """A price to set: `amount` in USDC, None ends the sale at this rate; it begins now where no moment is named."""

    rate: str
    amount: Decimal | None
    valid_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class Offered:
    """A product with all of its prices, those that were and those to come, as seen at one moment."""

    product: Product
    prices: tuple[Price, ...]
    now: datetime

    def amount(self, rate: str) -> Decimal | None:
        """What it costs at this rate; None where it is not sold."""
        return amount_at(self.prices, rate, self.now)

    def coming(self, rate: str) -> list[Price]:
        """What has not begun at this rate, the next one first."""
        later = (price for price in self.prices if price.rate == rate and price.valid_from > self.now)
        return sorted(later, key=_age)


def board(*, now: datetime) -> list[Offered]:
    """All products by slug. Two queries."""
    products = Product.objects.order_by("slug").prefetch_related("prices")
    return [Offered(product, tuple(product.prices.all()), now) for product in products]


def product_called(slug: str) -> Product:
    """The product of this name. Raises InvalidRequest, which names those that there are."""
    known = Product.objects.in_bulk()
    if slug not in known:
        raise InvalidRequest(unknown_name("product", slug, sorted(known)).message)
    return known[slug]


def history(product: Product) -> list[Price]:
    """Every price that it had, has and will have: by rate from the standard one on, the newest first. One query."""
    rates = list(TIER_OF_RATE)
    return sorted(product.prices.order_by("-valid_from", "-pk"), key=lambda price: rates.index(price.rate))


def check(product: Product, changes: Sequence[NewPrice], *, now: datetime, is_sure: bool = False) -> list[Price]:
    """The rows that these changes need, not written; none for what is so already. One query.

    Raises InvalidRequest for what cannot be, and Doubtful for a price that is above what clients pay unasked, that has
    a higher tier pay more than a lower one, or that leaves nothing to quote; `is_sure` overrules the doubts.
    """
    rows = list(product.prices.all())
    # Who has waited for the lock comes after whom they have waited for, also by the clock.
    now = max([now, *(price.created_at + timedelta(microseconds=1) for price in rows)])
    fresh: list[Price] = []
    for change in changes:
        begins = change.valid_from or now
        _refuse_what_cannot_be(change, begins, rows, now)
        if amount_at(rows, change.rate, begins) != change.amount:
            fresh.append(
                Price(product=product, rate=change.rate, amount_usdc=change.amount, valid_from=begins, created_at=now)
            )
            rows.append(fresh[-1])
    doubts = () if is_sure else tuple(_doubts(rows, fresh))
    if doubts:
        raise Doubtful(doubts)
    return fresh


@transaction.atomic
def change(
    product: Product, changes: Sequence[NewPrice], *, by: str, now: datetime, is_sure: bool = False
) -> list[Price]:
    """Set these prices, all or none, and return the rows that were written; see `check` for what is refused.

    The row of the product is locked, so that what was checked still holds when it is written. Three queries.
    """
    # The prices that `product` may hold already were read before the lock.
    locked = Product.objects.select_for_update().get(pk=product.pk)
    fresh = check(locked, changes, now=now, is_sure=is_sure)
    for price in fresh:
        price.by = by[:80]
    return Price.objects.bulk_create(fresh)


@transaction.atomic
def set_for(
    product: Product, tier: Tier, amount: Decimal, *, begins: datetime | None, by: str, now: datetime, is_sure: bool
) -> tuple[list[Price], bool]:
    """Sell the product to this tier at this price: the rows that were written, and whether it was opened to the tier.

    Raises InvalidRequest also for a price to come at a tier that the product is not sold to: opening it is done at
    once, and what is open is sold at the price of the moment.
    """
    locked = Product.objects.select_for_update().get(pk=product.pk)
    opens = tier < TIERS[locked.from_tier]
    if opens and begins is not None and begins > now:
        raise InvalidRequest(
            f"{product.slug} is not sold to {tier.name} yet, and opening it cannot wait: leave the moment "
            "away, or open it when the time has come."
        )
    written = change(product, [NewPrice(tier.rate, amount, begins)], by=by, now=now, is_sure=is_sure)
    if opens:
        open_from(product, tier)
    return written, opens


def open_from(product: Product, tier: Tier, *, is_sure: bool = False) -> bool:
    """Sell the product from this tier on, to none below it; False where it was so already. Two statements.

    Raises Doubtful where that ends the sale to somebody, unless they are sure.
    """
    sold_from = Product.objects.values_list("from_tier", flat=True).get(pk=product.pk)
    ended = [each.name for each in TIERS.values() if TIERS[sold_from] <= each < tier]
    if ended and not is_sure:
        raise Doubtful((f"This ends the sale of {product.slug} to {', '.join(ended)}.",))
    return bool(Product.objects.filter(pk=product.pk).exclude(from_tier=tier.name).update(from_tier=tier.name))


def take_back(prices: Iterable[int], *, now: datetime) -> int:
    """Forget those of these prices that have not begun; how many. One statement: what has begun stays."""
    return Price.objects.filter(pk__in=list(prices), valid_from__gt=now).delete()[0]


def amount_at(prices: Iterable[Price], rate: str, moment: datetime) -> Decimal | None:
    """What these say is paid at this rate at this moment; None where nothing is sold."""
    begun = [price for price in prices if price.rate == rate and price.valid_from <= moment]
    return max(begun, key=_age).amount_usdc if begun else None


def told(amount: Decimal | None) -> str:
    """An amount as people read it: 0.004, or that it is not sold."""
    return "not sold" if amount is None else f"{amount.normalize():f}"


def moment_told(moment: datetime) -> str:
    """A moment as people read it, in UTC: 2026-12-01 00:00 UTC."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _age(price: Price) -> tuple[datetime, int]:
    return price.valid_from, price.pk or 0


def _refuse_what_cannot_be(change: NewPrice, begins: datetime, rows: Sequence[Price], now: datetime) -> None:
    if change.rate not in TIER_OF_RATE:
        raise InvalidRequest(unknown_name("rate", change.rate, list(TIER_OF_RATE)).message)
    if begins < now:
        raise InvalidRequest("A price begins now or later: what was paid in the past stays as it was.")
    if change.amount is not None:
        if not change.amount.is_finite() or change.amount <= 0:
            raise InvalidRequest("A price is above zero; what is free is no product.")
        if change.amount >= MOST:
            raise InvalidRequest(f"A price is below {MOST:f} USDC.")
        if change.amount != change.amount.quantize(DIGITS):
            raise InvalidRequest("USDC has six decimal places: 0.000001 is the smallest price.")
    taken = [price for price in rows if price.rate == change.rate and price.valid_from == begins]
    if taken and taken[0].amount_usdc != change.amount:
        raise InvalidRequest(
            f"From {moment_told(begins)} on the {change.rate} price is to be {told(taken[0].amount_usdc)}: take that "
            "back first."
        )


def _doubts(rows: Sequence[Price], fresh: Sequence[Price]) -> Iterable[str]:
    touched = {price.rate for price in fresh}
    for price in fresh:
        if price.amount_usdc is not None and price.amount_usdc > PAID_UNASKED:
            yield (
                f"{told(price.amount_usdc)} USDC is more than the 1 USD that clients of x402 pay for a call without "
                "being told to."
            )
        if price.amount_usdc is None and price.rate == FREE.rate:
            yield "Who has not proven a wallet is quoted the standard price: without one they cannot buy at all."
    if not fresh:
        return
    first = min(price.valid_from for price in fresh)
    said = set[str]()
    for moment in sorted({price.valid_from for price in rows if price.valid_from >= first}):
        amounts = [(tier, amount_at(rows, tier.rate, moment)) for tier in TIERS.values()]
        sold = [(tier, amount) for tier, amount in amounts if amount is not None]
        for (lower, less), (higher, more) in pairwise(sold):
            wrong = (
                f"{higher.name.capitalize()} would pay {told(more)} and {lower.name.capitalize()} only {told(less)}."
            )
            if more > less and touched & {lower.rate, higher.rate} and wrong not in said:
                said.add(wrong)
                yield f"From {moment_told(moment)} on {wrong}"
