"""Amounts that name their quote, so that a plain transfer shows which request it pays.

Everybody can read a transaction's hash on the chain. So each caller without a proven wallet is quoted an amount of
their own: the price and a few millionths more, which no other quote has for twenty minutes. Stored in Valkey; while it
is unavailable the price itself is quoted, and only the proven sender of a transfer can use it.
"""

import hashlib
import logging
import secrets
from datetime import datetime, timedelta

from django.core.cache import cache
from redis import RedisError

from framework.api.rate_limits import counter

logger = logging.getLogger("tablewire.payments")

# At most this is added to a price, in atomic units: a tenth of a cent, and no more than this part of the price.
MAX_SURCHARGE = 999
MAX_SURCHARGE_DIVISOR = 2
# Longer than a transfer may be old when it is presented.
LIFETIME = timedelta(minutes=20)
# Blocks have clocks of their own.
CLOCK_TOLERANCE = timedelta(seconds=15)
# Of amounts that one caller holds: so that none takes all of a price from the others.
MAX_QUOTES_PER_CALLER = 50
# Of random amounts, before the price itself is quoted because most are taken.
MAX_TRIES = 8


def quote_amount(price: int, *, origin: str, purchase: str, now: datetime) -> int:
    """The amount by which this caller pays this purchase with a plain transfer, in atomic units as the price.

    The price itself if it is a single unit. A repeated request is quoted the same amount. One round trip to Valkey
    then, else about four. The price itself above MAX_QUOTES_PER_CALLER within LIFETIME, and if most amounts are taken.
    """
    quote = _hash_quote(price, origin=origin, purchase=purchase)
    max_surcharge = min(MAX_SURCHARGE, price // MAX_SURCHARGE_DIVISOR)
    if not max_surcharge:
        return price
    try:
        if quoted := cache.get(f"quote:{quote}"):
            return int(quoted)
        quotes = counter.count("quotes", counter.hash_bucket(origin), window_s=int(LIFETIME.total_seconds()))
        if quotes.count > MAX_QUOTES_PER_CALLER:
            return price
        for _ in range(MAX_TRIES):
            amount = price + 1 + secrets.randbelow(max_surcharge)
            if cache.add(_amount_key(amount), [origin, purchase, now.timestamp()], LIFETIME.total_seconds()):
                # Shorter than the amount's own life, so that a quoted amount is never free for another quote.
                cache.set(f"quote:{quote}", amount, LIFETIME.total_seconds() / 4)
                return amount
    except RedisError as error:
        logger.warning("amounts of quotes are not stored: %s", error)
    return price


def is_quoted(amount: int, *, origin: str, purchase: str, mined_at: datetime) -> bool:
    """Whether this caller was quoted this amount for this purchase, before the transfer was mined."""
    try:
        found = cache.get(_amount_key(amount))
    except RedisError as error:
        logger.warning("amounts of quotes cannot be read: %s", error)
        return False
    if found is None:
        return False
    quoted_for, quoted_purchase, quoted_at = found
    is_same = (quoted_for, quoted_purchase) == (origin, purchase)
    return is_same and quoted_at <= (mined_at + CLOCK_TOLERANCE).timestamp()


def release_amount(price: int, *, origin: str, purchase: str) -> None:
    """Free the amount that was quoted to a caller who has paid in another way."""
    quote = f"quote:{_hash_quote(price, origin=origin, purchase=purchase)}"
    try:
        if amount := cache.get(quote):
            cache.delete_many([quote, _amount_key(amount)])
    except RedisError as error:
        logger.warning("an amount of a quote was not freed: %s", error)


def _hash_quote(price: int, *, origin: str, purchase: str) -> str:
    return hashlib.sha256(f"{price} {origin} {purchase}".encode()).hexdigest()


def _amount_key(amount: int) -> str:
    return f"quote-amount:{amount}"
