"""Limits requests to one IP address, by all customers together: a URL may be of somebody who did not ask for them.

Host names do not count, because one wildcard record of DNS gives any number of them.
"""

from datetime import timedelta
from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings

from framework.api.rate_limits import counter

WINDOW_S = 60


class AddressBusy(Exception):
    """The address got its requests of this minute. `wait` is the time until the next one."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__("the limit of requests to this address is reached")
        self.wait = wait


def check(address: str, *, policy: str = "webhooks") -> None:
    """Count a request to an address, of IPv6 to its /64. Each policy has its own count. Raises AddressBusy."""
    if not settings.WEBHOOK_ADDRESS_LIMIT:
        return
    parsed = ip_address(address)
    target = str(ip_network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else address
    counted = counter.count(policy, counter.hash_bucket(target), window_s=WINDOW_S)
    if counted.count > settings.WEBHOOK_ADDRESS_LIMIT:
        raise AddressBusy(timedelta(seconds=max(1, counted.ends_at - counted.now)))
