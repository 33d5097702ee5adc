"""Sends what is due, side by side, so that a slow receiver holds a thread and not a worker."""

import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime

from accounts.models import WebhookDelivery
from accounts.webhooks import deliveries, destinations, messages

THREADS = 16
# So long new deliveries are taken; then what is under way ends, within the timeout. A worker is free for other work
# after 20 s at the latest, and rings again if more is due.
TAKES_S = 5.0
PAUSE_S = 0.25


def run(
    *,
    clock: Callable[[], datetime],
    takes_s: float = TAKES_S,
    timeout_s: float = messages.TIMEOUT_S,
    resolver: destinations.Resolver = destinations.look_up,
) -> bool:
    """Deliver what is due, and what becomes due meanwhile; say whether it ended before all was taken.

    The threads do what takes time, the network, and know nothing of the database.
    """
    until = time.monotonic() + takes_s
    flying: dict[Future[messages.Outcome], WebhookDelivery] = {}
    with ThreadPoolExecutor(THREADS, thread_name_prefix="webhook") as threads:
        while True:
            takes = time.monotonic() < until
            if takes:
                for delivery in _claimed(THREADS - len(flying), clock=clock):
                    sent = threads.submit(
                        messages.send,
                        delivery.event,
                        delivery.endpoint,
                        now=clock(),
                        timeout_s=timeout_s,
                        resolver=resolver,
                    )
                    flying[sent] = delivery
            if not flying:
                return not takes
            done, _ = wait(flying, timeout=PAUSE_S, return_when=FIRST_COMPLETED)
            for sent in done:
                deliveries.settle(flying.pop(sent), sent.result(), now=clock())


def _claimed(most: int, *, clock: Callable[[], datetime]) -> list[WebhookDelivery]:
    """As many deliveries as there are threads free: one of each endpoint, then a second of each, and so on."""
    taken: list[WebhookDelivery] = []
    while len(taken) < most:
        more = deliveries.claim(most=most - len(taken), now=clock())
        if not more:
            break
        taken += more
    return taken
