"""Sends what is due, side by side, so that a slow receiver holds a thread and not a worker."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime
from functools import partial

from django.db import connection

from accounts.models import WebhookDelivery
from accounts.webhooks import delivery_queue, http_client, ssrf_guard
from accounts.webhooks.delivery_queue import Pace
from framework.db.locks import AdvisoryLock
from framework.db.retry import DISCONNECTED, retry_on_disconnect
from framework.resilience.deadline import Deadline

logger = logging.getLogger("tablewire.worker")

DELIVERY_LOCK = AdvisoryLock("webhook delivery")

# So many tries are on their way that may well be quick, and so many of endpoints known to be slow or that take long.
# Where more turn out to be slow at once, they get threads of their own, up to so many in all.
QUICK, SLOW = 32, 16
THREADS = 96
# So long all that is due is taken, and then only what is quick, as long as slow tries are still on their way. Then
# what is under way ends, within the timeout: all that is less than a worker's soft limit of 90 s.
TAKES_S = 45.0
TAKES_QUICK_S = 65.0
PAUSE_S = 0.25
# A database that is away is asked again for so long; then what came of the tries is lost, and they come again.
DATABASE_TIMEOUT_S = 10.0


def run(
    *,
    clock: Callable[[], datetime],
    takes_s: float = TAKES_S,
    timeout_s: float = http_client.TIMEOUT_S,
    resolver: ssrf_guard.Resolver = ssrf_guard.look_up,
) -> bool:
    """Deliver what is due, and what becomes due meanwhile; say whether there is more.

    One worker does it for all: who comes meanwhile leaves it to that one. The threads do what takes time, the network,
    and know nothing of the database.
    """
    with DELIVERY_LOCK.session() as is_mine:
        if not is_mine:
            return False
        flights = Flights(clock=clock, timeout_s=timeout_s, resolver=resolver)
        with ThreadPoolExecutor(THREADS, thread_name_prefix="webhook") as threads:
            begun = time.monotonic()
            while True:
                age = time.monotonic() - begun
                if age < takes_s:
                    flights.take(threads, Pace.QUICK)
                    flights.take(threads, Pace.SLOW)
                elif age < takes_s + TAKES_QUICK_S - TAKES_S and flights.slow():
                    flights.take(threads, Pace.QUICK)
                if not flights.flying:
                    break
                flights.land()
    # Looked at after others are let in again: whoever left something to us did so before.
    try:
        return not flights.is_cut_off and delivery_queue.is_anything_due(now=clock())
    except DISCONNECTED:
        connection.close()
        return False


class Flights:
    """The tries that are under way in this process, each with the moment on the monotonic clock when it began."""

    def __init__(self, *, clock: Callable[[], datetime], timeout_s: float, resolver: ssrf_guard.Resolver) -> None:
        self.clock = clock
        self.timeout_s = timeout_s
        self.resolver = resolver
        self.flying: dict[Future[http_client.Outcome], tuple[WebhookDelivery, Pace, float]] = {}
        # Set when the database was away: others may be at it since, so nothing new is taken.
        self.is_cut_off = False
        self.database_deadline = Deadline(0.0)

    def slow(self) -> int:
        """How many are to slow endpoints, or take long."""
        since = time.monotonic() - delivery_queue.QUICK.total_seconds()
        return sum(pace is Pace.SLOW or begun < since for _, pace, begun in self.flying.values())

    def take(self, threads: ThreadPoolExecutor, pace: Pace) -> None:
        """Claim and send as many as there is room for: one of each endpoint, then a second of each, and so on."""
        slow = self.slow()
        room = SLOW - slow if pace is Pace.SLOW else QUICK - (len(self.flying) - slow)
        room = min(room, THREADS - len(self.flying))
        while room > 0 and not self.is_cut_off:
            try:
                taken = delivery_queue.claim(most=room, now=self.clock(), pace=pace)
            except DISCONNECTED as error:
                self._cut_off(error)
                return
            if not taken:
                return
            room -= len(taken)
            for delivery in taken:
                sent = threads.submit(
                    http_client.send,
                    delivery.event,
                    delivery.endpoint,
                    now=self.clock(),
                    timeout_s=self.timeout_s,
                    resolver=self.resolver,
                )
                self.flying[sent] = (delivery, pace, time.monotonic())

    def land(self) -> None:
        """Wait a moment for tries that end, and store what came of each by itself."""
        done, _ = wait(self.flying, timeout=PAUSE_S, return_when=FIRST_COMPLETED)
        for sent in done:
            delivery, _, _ = self.flying.pop(sent)
            self._settle(delivery, outcome_of(sent, delivery))

    def _settle(self, delivery: WebhookDelivery, outcome: http_client.Outcome) -> None:
        """Store an outcome; the first disconnect of a run starts the time in which all are stored or lost."""
        for stored in (outcome, replace(outcome, answer="", error="its answer could not be stored")):
            write = partial(delivery_queue.settle, delivery, stored, now=self.clock())
            timeout_s = self.database_deadline.remaining_s if self.is_cut_off else DATABASE_TIMEOUT_S
            try:
                if not retry_on_disconnect(write, timeout_s=timeout_s, on_disconnect=self._cut_off):
                    logger.error("The outcome of delivery %s is lost: it is sent again", delivery.pk)
            except Exception:
                logger.exception("The outcome of delivery %s cannot be stored", delivery.pk)
            else:
                return

    def _cut_off(self, error: Exception) -> None:
        if not self.is_cut_off:
            logger.warning("The database is away in the middle of webhooks: %s", error)
            self.database_deadline = Deadline.after(DATABASE_TIMEOUT_S)
        self.is_cut_off = True
        connection.close()


def outcome_of(sent: Future[http_client.Outcome], delivery: WebhookDelivery) -> http_client.Outcome:
    """What came of a try. One that ended as nobody foresaw is a failed one, and no other is the worse for it."""
    try:
        return sent.result()
    except Exception:
        logger.exception("Delivery %s could not be sent", delivery.pk)
        return http_client.Outcome(error="something of ours went wrong in the middle of the try")
