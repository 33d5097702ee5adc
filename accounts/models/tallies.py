"""How many records a venue has, kept by triggers of the database in the transaction of each change."""

from django.db import models
from django.db.models import Sum

from accounts.models.venues import Venue


class Tallies(models.QuerySet["Tally"]):
    """Questions to the tallies."""

    def count_of(self, venue: Venue, noun: str, *, status: str | None = None) -> int:
        """How many such records the venue has, of one status or in all. One query of at most three rows."""
        found = self.filter(venue=venue, noun=noun)
        narrowed = found.filter(status=status) if status else found
        return int(narrowed.aggregate(sum=Sum("total"))["sum"] or 0)


class Tally(models.Model):
    """The number of a venue's orders or reservations in one status.

    Read where counting the rows would take long (config.api.pages); written by the triggers alone.
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
