"""Tables of a venue, and their assignments to reservations and holds."""

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import DateTimeRangeField, RangeOperators
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Venue
from framework.db.row_history import track_history
from framework.public_ids import new_id
from reservations.models.holds import Hold
from reservations.models.reservations import Reservation


class Area(models.Model):
    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="areas", db_index=False)
    name = models.CharField(max_length=100)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["venue", "name"], name="area_name_unique_per_venue")]

    def __str__(self) -> str:
        return self.name


@track_history()
class Table(models.Model):
    """A table that can be reserved."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="tables", db_index=False)
    area = models.ForeignKey(Area, on_delete=models.PROTECT, related_name="tables", null=True, blank=True)
    name = models.CharField(max_length=20)
    seats_min = models.PositiveSmallIntegerField(default=1, help_text="Smallest party")
    seats_max = models.PositiveSmallIntegerField(help_text="Largest party")
    priority = models.PositiveSmallIntegerField(
        default=0, help_text="Among tables of the same size, the lowest is assigned first"
    )
    is_active = models.BooleanField(
        "active", default=True, help_text="If off, the table is not assigned to new reservations"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["venue", "name"], name="table_name_unique_per_venue"),
            models.CheckConstraint(
                name="table_seats_valid",
                condition=Q(seats_min__gte=1, seats_max__gte=F("seats_min"), seats_max__lte=500),
                violation_error_message=_("Seats are 1 to 500, and the maximum is not below the minimum."),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Combination(models.Model):
    """Tables that are joined for a larger party."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="combinations", db_index=False)
    name = models.CharField(max_length=100)
    tables = models.ManyToManyField(Table, related_name="combinations")
    seats_min = models.PositiveSmallIntegerField()
    seats_max = models.PositiveSmallIntegerField()
    priority = models.PositiveSmallIntegerField(default=0)
    is_active = models.BooleanField("active", default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["venue", "name"], name="combination_name_unique_per_venue"),
            models.CheckConstraint(
                name="combination_seats_valid",
                condition=Q(seats_min__gte=1, seats_max__gte=F("seats_min"), seats_max__lte=500),
                violation_error_message=_("Seats are 1 to 500, and the maximum is not below the minimum."),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Seating(models.Model):
    """The assignment of a table to a reservation or a hold for a time range. The constraint forbids overlaps."""

    reservation = models.ForeignKey(Reservation, on_delete=models.CASCADE, related_name="seatings", null=True)
    # The database deletes the seatings with the hold.
    hold = models.ForeignKey(Hold, on_delete=models.CASCADE, related_name="seatings", null=True, db_index=False)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, related_name="seatings", db_index=False)
    during = DateTimeRangeField(help_text="[start, end) in UTC")

    class Meta:
        constraints = [
            ExclusionConstraint(
                name="seating_no_table_overlap",
                expressions=[("table", RangeOperators.EQUAL), ("during", RangeOperators.OVERLAPS)],
            ),
            models.CheckConstraint(name="seating_not_empty", condition=Q(during__isempty=False)),
            models.CheckConstraint(
                name="seating_of_reservation_or_hold",
                condition=Q(reservation__isnull=False, hold__isnull=True)
                | Q(reservation__isnull=True, hold__isnull=False),
            ),
        ]
        indexes = [models.Index(fields=["hold"], name="seating_by_hold", condition=Q(hold__isnull=False))]

    def __str__(self) -> str:
        return f"{self.table} {self.during}"
