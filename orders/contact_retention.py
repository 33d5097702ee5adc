"""Retention of the contacts of orders: as long as the venue keeps its guests."""

import time
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import connection

from framework.db.sql_files import read_sql

ERASE = read_sql("orders", "erase_contacts")
BATCH_SIZE = 500
# Well below the time limit of a task; the next run continues.
MAX_RUN_S = 60.0


def erase_expired_contacts(*, now: datetime) -> int:
    """Erase names, numbers and addresses of orders whose retention is over; return the number of orders.

    A statement for each batch, so that an interrupted run loses nothing. Answers stored for idempotency keys are
    deleted after a day, so none of so old an order is left.
    """
    deadline, count = time.monotonic() + MAX_RUN_S, 0
    values: dict[str, Any] = {"now": now, "max_days": settings.GUEST_RETENTION_DAYS, "batch": BATCH_SIZE}
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(ERASE, values)
            ((erased,),) = cursor.fetchall()
        if not erased:
            break
        count += erased
    return count
