"""Record counts of a venue, maintained by triggers in the transaction of each change."""

from django.db import models

from accounts.models.venues import Venue
from framework.db import prepared_statements

# Every list request runs this statement. Building it with the ORM would take several times as long.
SUM = (
    "SELECT coalesce(sum(total), 0)::int8 FROM accounts_recordcount"
    " WHERE venue_id = %(venue)s AND record_type = %(record_type)s"
)


class RecordCounts(models.QuerySet["RecordCount"]):
    """Queries for record counts."""

    def get_total(self, venue: Venue, record_type: str, *, status: str | None = None) -> int:
        """Return the number of the venue's records of this type, in one status or in all. One query of few rows."""
        ((total,),) = prepared_statements.fetch_all(
            f"{SUM} AND status = %(status)s" if status else SUM,
            {"venue": venue.pk, "record_type": record_type, "status": status},
        )
        return int(total)


class RecordCount(models.Model):
    """The number of a venue's orders or reservations in one status: `pagination.total` of lists (decision 0027).

    Only triggers write it (accounts/sql/update_record_counts.sql).
    """

    class RecordType(models.TextChoices):
        ORDER = "order"
        RESERVATION = "reservation"

    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="+", db_index=False)
    record_type = models.CharField(max_length=12, choices=RecordType)
    status = models.CharField(max_length=10)
    total = models.BigIntegerField()

    objects = RecordCounts.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["venue", "record_type", "status"], name="record_count_unique_per_venue_type_and_status"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.total} {self.status} {self.record_type}s"
