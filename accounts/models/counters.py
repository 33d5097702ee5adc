"""How many records a venue has, kept by triggers of the database in the transaction of each change."""

from django.db import models

from accounts.models.venues import Venue
from framework.db import prepared_statements

# Each list asks it: put together by the ORM it would take several times as long.
SUM = "SELECT coalesce(sum(total), 0)::int8 FROM accounts_tally WHERE venue_id = %(venue)s AND noun = %(noun)s"


class Tallies(models.QuerySet["Tally"]):
    """Questions to the tallies."""

    def count_of(self, venue: Venue, noun: str, *, status: str | None = None) -> int:
        """How many such records the venue has, of one status or in all. One query of at most a few rows."""
        ((total,),) = prepared_statements.fetch_all(
            f"{SUM} AND status = %(status)s" if status else SUM, {"venue": venue.pk, "noun": noun, "status": status}
        )
        return int(total)


class Tally(models.Model):
    """The number of a venue's orders or reservations in one status.

    What a list says that there are in all (docs/decisions/0027); written only by
    triggers (accounts/sql/update_record_counts.sql).
    """

    class Noun(models.TextChoices):
        ORDER = "order"
        RESERVATION = "reservation"

    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="+", db_index=False)
    noun = models.CharField(max_length=12, choices=Noun)
    status = models.CharField(max_length=10)
    total = models.BigIntegerField()

    objects = Tallies.as_manager()

    class Meta:
        verbose_name_plural = "tallies"
        constraints = [
            models.UniqueConstraint(fields=["venue", "noun", "status"], name="one_tally_per_venue_noun_and_status"),
        ]

    def __str__(self) -> str:
        return f"{self.total} {self.status} {self.noun}s"
