"""Lists of the deliveries of an endpoint, of which there may be millions."""

from typing import Any

from django.db.models import QuerySet

from accounts.models import WebhookDelivery

# Filters search only so many of the newest deliveries: among millions, matches may be far apart.
MAX_SEARCHED = 10_000
NEWEST_FIRST = ("-created_at", "-pk")


def filter_newest(rows: QuerySet[WebhookDelivery], **conditions: Any) -> QuerySet[WebhookDelivery]:
    """Return those of the newest MAX_SEARCHED rows that meet the conditions; all rows without conditions."""
    if not conditions:
        return rows
    return rows.filter(pk__in=rows.order_by(*NEWEST_FIRST).values("pk")[:MAX_SEARCHED]).filter(**conditions)
