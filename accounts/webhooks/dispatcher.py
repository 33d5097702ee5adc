"""The webhook dispatcher: sends due deliveries concurrently, so that a slow receiver holds a thread, not a worker."""

import logging
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import connection
from django.utils import timezone

from accounts.models import WebhookDelivery
from accounts.webhooks import delivery_queue, http_client, ssrf_guard
from accounts.webhooks.delivery_queue import Pace
from framework.db.locks import AdvisoryLock
from framework.db.retry import DISCONNECTED, retry_on_disconnect
from framework.resilience.deadline import Deadline

logger = logging.getLogger("tablewire.worker")

DELIVERY_LOCK = AdvisoryLock("webhook delivery")

# Concurrent attempts to endpoints that may be quick, and to slow ones. Attempts that turn out to be slow free a quick
# slot, up to MAX_THREADS in all.
QUICK_SLOTS, SLOW_SLOTS = 32, 16
MAX_THREADS = 96
# All due deliveries are claimed for CLAIM_S, then only quick ones while slow attempts run, until CLAIM_QUICK_S.
# Running attempts end within the timeout, so a run stays below the worker's soft limit of 90 s.
CLAIM_S = 45.0
CLAIM_QUICK_S = 65.0
POLL_INTERVAL_S = 0.25
# How long an unavailable database is retried. Then the outcomes are lost, and the deliveries are sent again.
DATABASE_TIMEOUT_S = 10.0


def run(
    *,
    clock: Callable[[], datetime],
    venue: UUID | None = None,
    claim_s: float = CLAIM_S,
    timeout_s: float = http_client.TIMEOUT_S,
    resolver: ssrf_guard.Resolver = ssrf_guard.resolve,
) -> bool:
    """Deliver what is due, and what becomes due during the run; return whether more is due.

    Of all venues without a clock of their own, by one worker at a time: others return False at once. Or of `venue`,
    whose clock the caller has leased (accounts.sandbox_clock): one after the other to each endpoint, in the order of
    their events. The threads use the network, never the database.
    """
    pool = DeliveryPool(clock=clock, venue=venue, timeout_s=timeout_s, resolver=resolver)
    if venue is not None:
        deliver(pool, claim_s=claim_s)
    else:
        with DELIVERY_LOCK.session() as is_mine:
            if not is_mine:
                return False
            deliver(pool, claim_s=claim_s)
    # After the lock is released: a worker that found it taken left its deliveries before this check.
    try:
        return not pool.is_cut_off and delivery_queue.has_due(now=clock(), venue=venue)
    except DISCONNECTED:
        connection.close()
        return False


def deliver(pool: "DeliveryPool", *, claim_s: float) -> None:
    """Claim and send until nothing is due, or `claim_s` have passed and the attempts have ended.

    For one venue somebody waits, so nothing is claimed later; for all, quick endpoints go on while slow ones answer.
    """
    with ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="webhook") as threads:
        started = time.monotonic()
        while True:
            age = time.monotonic() - started
            if age < claim_s:
                pool.submit_due(threads, Pace.QUICK)
                pool.submit_due(threads, Pace.SLOW)
            elif pool.venue is None and age < claim_s + CLAIM_QUICK_S - CLAIM_S and pool.count_slow():
                pool.submit_due(threads, Pace.QUICK)
            if not pool.in_flight:
                break
            pool.collect_finished()


class DeliveryPool:
    """The attempts that are running in this process, each with its start on the monotonic clock."""

    def __init__(
        self,
        *,
        clock: Callable[[], datetime],
        venue: UUID | None,
        timeout_s: float,
        resolver: ssrf_guard.Resolver,
    ) -> None:
        self.clock = clock
        self.venue = venue
        self.timeout_s = timeout_s
        self.resolver = resolver
        self.in_flight: dict[Future[http_client.Outcome], tuple[WebhookDelivery, Pace, float]] = {}
        # Set after a disconnect, which released the lock: another worker may be running, so nothing new is claimed.
        self.is_cut_off = False
        self.database_deadline = Deadline(0.0)

    def count_slow(self) -> int:
        """Return the number of attempts to slow endpoints, or that take long."""
        since = time.monotonic() - delivery_queue.SLOW_AFTER.total_seconds()
        return sum(pace is Pace.SLOW or started < since for _, pace, started in self.in_flight.values())

    def submit_due(self, threads: ThreadPoolExecutor, pace: Pace) -> None:
        """Claim and send deliveries while slots are free: one of each endpoint, then a second of each, and so on."""
        slow = self.count_slow()
        room = SLOW_SLOTS - slow if pace is Pace.SLOW else QUICK_SLOTS - (len(self.in_flight) - slow)
        room = min(room, MAX_THREADS - len(self.in_flight))
        while room > 0 and not self.is_cut_off:
            try:
                claimed = delivery_queue.claim_due(limit=room, now=self.clock(), pace=pace, venue=self.venue)
            except DISCONNECTED as error:
                self._cut_off(error)
                return
            if not claimed:
                return
            room -= len(claimed)
            for delivery in claimed:
                future = threads.submit(
                    http_client.send,
                    delivery.event,
                    delivery.endpoint,
                    # Receivers refuse signatures of another time than the real one.
                    now=self.clock() if self.venue is None else timezone.now(),
                    timeout_s=self.timeout_s,
                    resolver=self.resolver,
                )
                self.in_flight[future] = (delivery, pace, time.monotonic())

    def collect_finished(self) -> None:
        """Wait for attempts to finish, for at most POLL_INTERVAL_S, and store the outcome of each."""
        done, _ = wait(self.in_flight, timeout=POLL_INTERVAL_S, return_when=FIRST_COMPLETED)
        for future in done:
            delivery, _, _ = self.in_flight.pop(future)
            try:
                outcome = future.result()
            except Exception:
                logger.exception("Delivery %s could not be sent", delivery.pk)
                outcome = http_client.Outcome(error="an internal error occurred during the attempt")
            self._record(delivery, outcome)

    def _record(self, delivery: WebhookDelivery, outcome: http_client.Outcome) -> None:
        """Store an outcome. The first disconnect of a run starts the time in which all outcomes are stored or lost."""
        for storable in (outcome, replace(outcome, answer="", error="its response could not be stored")):
            is_random = self.venue is None
            write = partial(delivery_queue.record_outcome, delivery, storable, now=self.clock(), is_random=is_random)
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
            logger.warning("The database is unavailable during webhook delivery: %s", error)
            self.database_deadline = Deadline.after(DATABASE_TIMEOUT_S)
        self.is_cut_off = True
        connection.close()
