"""Leases of export parts.

A worker claims a part with a lease on the database's clock. Each claim has its own fencing token: a worker whose lease
has expired finds another token on the row, and its updates match nothing.
"""

from datetime import timedelta
from typing import Any

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from catalogue.models import Export, ExportPart

LEASE = timedelta(seconds=60)
RENEW_AFTER_S = 15
MAX_ATTEMPTS = 5
# By the clock of the database, which also sets the leases.
IS_UNLEASED = Q(lease_until=None) | Q(lease_until__lt=Now())
CLAIM = """
UPDATE catalogue_exportpart
SET state = 'claimed', token = token + 1, attempts = attempts + 1, lease_until = now() + %(lease)s
WHERE id = (
    SELECT part.id FROM catalogue_exportpart AS part JOIN catalogue_export AS export ON export.id = part.export_id
    WHERE part.export_id = %(export)s AND export.status = 'running'
        AND (part.state <> 'done' OR part.generation < export.generation OR part.horizon IS NULL)
        AND part.attempts < %(max_attempts)s AND (part.lease_until IS NULL OR part.lease_until < now())
    ORDER BY part.file <> '', part.seq LIMIT 1 FOR UPDATE OF part SKIP LOCKED
)
RETURNING *
"""


class LeaseLostError(Exception):
    """Another worker has claimed the part, or its export is not running any more."""


def claim_part(export: Export) -> ExportPart | None:
    """Claim an unleased part and count the attempt. None if all parts are done, leased or out of attempts."""
    rows: Any = ExportPart.objects.raw(CLAIM, {"export": export.pk, "lease": LEASE, "max_attempts": MAX_ATTEMPTS})
    return next(iter(rows), None)


def filter_claimed(part: ExportPart) -> "QuerySet[ExportPart]":
    """Return the row of a part while this claim of it is valid."""
    return ExportPart.objects.filter(
        pk=part.pk, token=part.token, state=ExportPart.State.CLAIMED, export__status=Export.Status.RUNNING
    )


def renew_lease(part: ExportPart) -> None:
    """Extend the lease. Raises LeaseLostError."""
    if not filter_claimed(part).update(lease_until=Now() + LEASE):
        raise LeaseLostError


def release_part(part: ExportPart) -> None:
    """End the lease at once and do not count the attempt."""
    filter_claimed(part).update(state=ExportPart.State.QUEUED, lease_until=None, attempts=F("attempts") - 1)
