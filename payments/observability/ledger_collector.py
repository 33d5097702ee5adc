"""Prometheus series of the ledger and its audits, read from the database: every process reports the same values.

No series names a payer, an address or the content of a request.
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
# Reading takes at most a fiftieth of the time, and happens every five seconds at most.
MIN_CACHE_S = 5.0
CACHE_FACTOR = 50
# The findings of an audit are reported for this long, also if a later audit finds nothing.
AUDIT_PERIOD = timedelta(days=7)


class LedgerCollector(Collector):
    """Collects the series of the ledger and its audits, cached for some seconds."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.metrics: Sequence[Metric] = ()
        self.cached_until = 0.0

    def collect(self) -> Iterable[Metric]:
        """Return the series. At most four queries, one of them over the whole ledger; none while they are cached."""
        with self.lock:
            if time.monotonic() >= self.cached_until:
                started = time.monotonic()
                self.metrics = self.read()
                duration_s = time.monotonic() - started
                self.cached_until = time.monotonic() + max(MIN_CACHE_S, CACHE_FACTOR * duration_s)
            return self.metrics

    def read(self) -> Sequence[Metric]:
        """Read the series; without the database only tablewire_ledger_readable, which is 0 then."""
        try:
            metrics = [*self.read_totals(), *self.read_open_and_audits()]
        except DatabaseError:
            metrics = []
        return [
            gauge("tablewire_ledger_readable", "Whether the ledger could be read: 1 or 0.", bool(metrics)),
            *metrics,
        ]

    def read_totals(self) -> Iterator[Metric]:
        """Yield the number of payments, the revenue, the money of venues, and the refunds that are due."""
        groups = Payment.objects.order_by().values_list("form", "state", "tier", "products")
        payments: dict[tuple[str, str], int] = {}
        revenue: dict[tuple[str, str], Decimal] = {}
        refund_due = Decimal(0)
        of_venues = dict.fromkeys(Payment.OF_VENUES, Decimal(0))
        for form, state, tier, products, count, usdc in groups.annotate(Count("pk"), Sum("amount_usdc")):
            payments[form, state] = payments.get((form, state), 0) + count
            of_venue = next((each for each in products if each in of_venues), None)
            if state in Payment.EARNED and of_venue:
                of_venues[of_venue] += usdc
            elif state in Payment.EARNED:
                key = ("+".join(sorted(products)), tier)
                revenue[key] = revenue.get(key, Decimal(0)) + usdc
            elif state == State.REFUND_DUE:
                refund_due += usdc
        yield labelled_gauge("tablewire_payments", "Payments in the ledger.", ["form", "state"], payments)
        yield labelled_gauge("tablewire_revenue_usdc", "Revenue without refunds.", ["products", "tier"], revenue)
        deposits, orders = of_venues[Payment.DEPOSIT], of_venues[Payment.ORDER]
        yield gauge("tablewire_deposits_usdc", "Deposits that are held for venues, or payable to them.", deposits)
        yield gauge("tablewire_orders_usdc", "What guests have paid for orders, payable to venues.", orders)
        yield gauge("tablewire_refund_due_usdc", "Sum of the refunds that are due.", refund_due)

    def read_open_and_audits(self) -> Iterator[Metric]:
        """Yield the payments whose outcome is not known, and the findings of the audits of AUDIT_PERIOD."""
        now = timezone.now()
        unsettled = Payment.objects.filter(state__in=transitions.OPEN)
        unsettled_totals = unsettled.aggregate(count=Count("pk"), oldest=Min("created_at"))
        oldest = unsettled_totals["oldest"] or now
        yield gauge("tablewire_payments_open", "Payments whose outcome is not known.", unsettled_totals["count"])
        age_s = (now - oldest).total_seconds()
        yield gauge("tablewire_payments_open_oldest_seconds", "Age of the oldest of them.", age_s)
        recent = Q(ended_at__gt=now - AUDIT_PERIOD)
        audits = Audit.objects.aggregate(
            last=Max("ended_at"),
            differences=Sum(Func("differences", function="cardinality"), filter=recent, output_field=IntegerField()),
            orphans=Sum("orphans", filter=recent),
        )
        # Without any audit the age counts from the first payment.
        since = audits["last"] or Payment.objects.order_by("pk").values_list("created_at", flat=True).first() or now
        age_s = (now - since).total_seconds()
        yield gauge("tablewire_audit_age_seconds", "Time since the last audit, or the first payment.", age_s)
        differences, orphans = audits["differences"] or 0, audits["orphans"] or 0
        yield gauge("tablewire_audit_differences", "Payments that differ from the chain, of seven days.", differences)
        yield gauge("tablewire_audit_orphans", "Transfers that matched no payment, of seven days.", orphans)


def gauge(name: str, documentation: str, value: float | Decimal) -> Metric:
    return GaugeMetricFamily(name, documentation, value=float(value))


def labelled_gauge(name: str, documentation: str, labels: Sequence[str], values: Mapping[Any, Any]) -> Metric:
    family = GaugeMetricFamily(name, documentation, labels=labels)
    for key, value in sorted(values.items()):
        family.add_metric(list(key), float(value))
    return family


ledger = LedgerCollector()
registry = CollectorRegistry()
registry.register(ledger)


def render() -> bytes:
    return generate_latest(registry)
