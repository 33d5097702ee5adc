"""What the ledger and its audits say, in the series of Prometheus: exact, whichever process is asked.

No series names a payer, an address or what somebody asked for.
"""

import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import Error as DatabaseError
from django.db.models import Count, Func, IntegerField, Max, Min, Q, Sum
from django.utils import timezone
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from payments.ledger import transitions
from payments.models import Audit, Payment

State = Payment.State
# The ledger is counted again after so long, and after so many times as long as it took: never a burden.
KEPT_S = 5.0
KEPT_TIMES = 50
# A clean audit after one that found something does not silence it before people had days to look.
AUDITS_TOLD = timedelta(days=7)


class Books(Collector):
    """Series of the ledger and its audits, exact as of some seconds ago: whoever is asked says the same."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: Sequence[Metric] = ()
        self.until = 0.0

    def collect(self) -> Iterable[Metric]:
        """Four statements at most, one of them over the whole ledger; none within seconds of the last time."""
        with self.lock:
            if time.monotonic() >= self.until:
                started = time.monotonic()
                self.kept = self.read()
                took = time.monotonic() - started
                self.until = time.monotonic() + max(KEPT_S, KEPT_TIMES * took)
            return self.kept

    def read(self) -> Sequence[Metric]:
        """The series of this moment; without the database only the one that says so."""
        readable = GaugeMetricFamily("tablewire_ledger_readable", "Whether the ledger could be read: 1 or 0.")
        try:
            found = [*self.sums(), *self.moments()]
        except DatabaseError:
            found = []
        readable.add_metric([], bool(found))
        return [readable, *found]

    def sums(self) -> Iterator[Metric]:
        """How many payments there are, and what they have brought."""
        lines = Payment.objects.order_by().values_list("form", "state", "tier", "products")
        payments: dict[tuple[str, str], int] = {}
        revenue: dict[tuple[str, str], Decimal] = {}
        due = Decimal(0)
        for form, state, tier, products, count, usdc in lines.annotate(Count("pk"), Sum("amount_usdc")):
            payments[form, state] = payments.get((form, state), 0) + count
            if state in (State.SETTLED, State.DELIVERED):
                sold = ("+".join(sorted(products)), tier)
                revenue[sold] = revenue.get(sold, Decimal(0)) + usdc
            elif state == State.REFUND_DUE:
                due += usdc
        yield family("tablewire_payments", "Payments in the ledger.", ["form", "state"], payments)
        yield family("tablewire_revenue_usdc", "What was paid and is ours.", ["products", "tier"], revenue)
        yield family("tablewire_refund_due_usdc", "What we owe back.", [], {(): due})

    def moments(self) -> Iterator[Metric]:
        """What waits, for how long, and what the audits of the last days have said."""
        now = timezone.now()
        waiting = Payment.objects.filter(state__in=transitions.OPEN).aggregate(
            count=Count("pk"), oldest=Min("created_at")
        )
        age_s = (now - waiting["oldest"]).total_seconds() if waiting["oldest"] else 0
        yield family("tablewire_payments_open", "Payments whose end is not known.", [], {(): waiting["count"]})
        yield family("tablewire_payments_open_oldest_seconds", "Age of the oldest of them.", [], {(): age_s})
        late = Q(ended_at__gt=now - AUDITS_TOLD)
        told = Audit.objects.aggregate(
            last=Max("ended_at"),
            differences=Sum(Func("differences", function="cardinality"), filter=late, output_field=IntegerField()),
            orphans=Sum("orphans", filter=late),
        )
        # Where none was ever made, the money has not been looked at since the first payment.
        since = told["last"] or Payment.objects.order_by("pk").values_list("created_at", flat=True).first() or now
        age_s = (now - since).total_seconds()
        yield family("tablewire_audit_age_seconds", "Since the last audit, or the first payment.", [], {(): age_s})
        yield family(
            "tablewire_audit_differences",
            "Lines that the chain did not bear out, in the audits of seven days.",
            [],
            {(): told["differences"] or 0},
        )
        yield family(
            "tablewire_audit_orphans",
            "Transfers that had bought nothing, in the audits of seven days.",
            [],
            {(): told["orphans"] or 0},
        )


def family(name: str, words: str, labels: Sequence[str], values: Mapping[Any, Any]) -> Metric:
    """A series of gauges, by their labels' values."""
    made = GaugeMetricFamily(name, words, labels=labels)
    for key, value in sorted(values.items()):
        made.add_metric(list(key), float(value))
    return made


books = Books()
registry = CollectorRegistry()
registry.register(books)


def text() -> bytes:
    """The series in Prometheus' text format."""
    return generate_latest(registry)
