"""The addresses at which we have taken payments: PAY_TO may change, and money may still arrive at the former one."""

from functools import cache

from cachetools import TTLCache, cached
from django.conf import settings
from django.utils import timezone

from payments.chain.networks import payment_network
from payments.models import Receiver

MAX_AGE_S = 60.0
cached_receivers: TTLCache[tuple[str, str], frozenset[str]] = TTLCache(4, ttl=MAX_AGE_S)


@cached(cached_receivers, key=lambda: (payment_network().caip2, settings.PAY_TO))
def receivers() -> frozenset[str]:
    """PAY_TO, and the addresses before it, in lower case. One query a minute."""
    former = Receiver.objects.filter(network=payment_network().caip2).values_list("address", flat=True)
    return frozenset({settings.PAY_TO, *former} - {""})


@cache
def remember(network: str, address: str) -> None:
    """Store a receiver, once in a process. Call it before a payment to it is claimed."""
    Receiver.objects.bulk_create(
        [Receiver(network=network, address=address, created_at=timezone.now())], ignore_conflicts=True
    )
