"""What is gone from the datasets, remembered as long as somebody may ask for what has changed since."""

from datetime import datetime, timedelta

from catalogue.exports.requests.spec import DELTAS_REACH
from catalogue.models import Export, Removal

# A delta may be paid for, or tried again, some time after it was asked for.
SPARE = timedelta(days=10)


def forget(*, now: datetime) -> int:
    """Remove what no delta tells any more; how many. Two statements: one that is not finished yet is waited for."""
    until = now - DELTAS_REACH - SPARE
    begins = Export.objects.unfinished().filter(since_export__changes_from__isnull=False)
    oldest = begins.order_by("since_export__changes_from").values_list("since_export__changes_from", flat=True).first()
    count, _ = Removal.objects.filter(at__lt=min(until, oldest or until)).delete()
    return count
