"""Consistency checks of orders."""

from datetime import datetime
from functools import partial

from accounts.consistency_checks import check_events, check_record_counts, check_stored_responses
from accounts.models.venues import PREFIX as VENUE
from framework.consistency import Checks, query
from framework.db.sql_files import read_sql
from framework.public_ids import encode
from orders.models import Order
from orders.models.orders import PREFIX


def checks(now: datetime) -> Checks:
    """Return the checks of order numbers, totals, record counts, events and stored responses."""
    numbers, totals = read_sql("orders", "check_numbers"), read_sql("orders", "check_totals")
    return {
        "order_numbers": query("order_numbers", numbers, subject=partial(encode, VENUE)),
        "order_totals": query("order_totals", totals, subject=partial(encode, PREFIX)),
        "order_counts": check_record_counts("order", Order),
        "order_event": check_events("order", Order, prefix=PREFIX, now=now),
        "order_replay": check_stored_responses("order", Order, prefix=PREFIX),
    }
