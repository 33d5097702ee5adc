"""Deletion of many rows in batches, each a statement of its own."""

from typing import Any

from django.db.models import QuerySet

BATCH = 5_000


def delete_in_batches(rows: QuerySet[Any], *, batch: int = BATCH) -> int:
    """Delete the rows in their order, so that no statement exceeds its timeout; return how many were deleted."""
    total, deleted = 0, batch
    while deleted == batch:
        keys = list(rows.values_list("pk", flat=True)[:batch])
        rows.model._default_manager.filter(pk__in=keys).delete()
        deleted = len(keys)
        total += deleted
    return total
