"""Service periods and closed days of a venue."""

from datetime import time, timedelta

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext

from accounts.models import Venue
from framework.db.row_history import track_history
from framework.public_ids import new_id


@track_history()
class ServicePeriod(models.Model):
    """Lunch or dinner on some weekdays. A last seating before the first one is on the next day."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="service_periods")
    name = models.CharField(max_length=100)
    weekdays = ArrayField(models.PositiveSmallIntegerField(), help_text="0 is Monday, 6 is Sunday")
    first_seating = models.TimeField(help_text="In the venue's time zone")
    last_seating = models.TimeField(help_text="In the venue's time zone; if earlier than the first, on the next day")
    slot_min = models.PositiveSmallIntegerField(default=15, help_text="Minutes from one seating to the next")
    pacing_covers = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="Maximum guests per slot; empty: no limit"
    )
    turn_2_min = models.PositiveSmallIntegerField(
        default=90, help_text="Seating duration in minutes for up to 2 guests"
    )
    turn_4_min = models.PositiveSmallIntegerField(default=105, help_text="Up to 4")
    turn_6_min = models.PositiveSmallIntegerField(default=120, help_text="Up to 6")
    turn_more_min = models.PositiveSmallIntegerField(default=150, help_text="More than 6")

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="service_period_has_weekdays",
                condition=Q(weekdays__contained_by=[0, 1, 2, 3, 4, 5, 6], weekdays__len__gte=1),
                violation_error_message=gettext_lazy("Weekdays are numbers from 0 (Monday) to 6 (Sunday)."),
            ),
            models.CheckConstraint(
                name="service_period_slots_of_5_to_240_minutes", condition=Q(slot_min__gte=5, slot_min__lte=240)
            ),
            models.CheckConstraint(
                name="service_period_pacing_positive",
                condition=Q(pacing_covers__isnull=True) | Q(pacing_covers__gte=1),
            ),
            models.CheckConstraint(
                name="service_period_turns_of_15_to_720_minutes",
                condition=Q(
                    turn_2_min__range=(15, 720),
                    turn_4_min__range=(15, 720),
                    turn_6_min__range=(15, 720),
                    turn_more_min__range=(15, 720),
                ),
                violation_error_message=gettext_lazy("Guests stay 15 to 720 minutes."),
            ),
        ]

    def __str__(self) -> str:
        times = {"first": f"{self.first_seating:%H:%M}", "last": f"{self.last_seating:%H:%M}"}
        return _("%(name)s, %(first)s to %(last)s") % {"name": self.name, **times}

    @property
    def is_overnight(self) -> bool:
        return self.last_seating < self.first_seating

    def turn_time(self, party_size: int) -> timedelta:
        bands = ((2, self.turn_2_min), (4, self.turn_4_min), (6, self.turn_6_min))
        return timedelta(minutes=next((turn for size, turn in bands if party_size <= size), self.turn_more_min))

    @property
    def longest_turn_time(self) -> timedelta:
        return timedelta(minutes=max(self.turn_2_min, self.turn_4_min, self.turn_6_min, self.turn_more_min))

    @property
    def seating_minutes(self) -> tuple[int, int]:
        """The first and the last seating, in minutes from midnight of the start day."""
        first = self.first_seating.hour * 60 + self.first_seating.minute
        last = self.last_seating.hour * 60 + self.last_seating.minute
        return first, last + (1440 if self.is_overnight else 0)

    def seatings(self) -> list[tuple[int, time]]:
        """Return its seatings in order: 0, or 1 after midnight, and the time."""
        first, last = self.seating_minutes
        minutes = range(first, last + 1, self.slot_min)
        return [(minute // 1440, time(minute % 1440 // 60, minute % 60)) for minute in minutes]


@track_history()
class Closure(models.Model):
    """Days on which a venue is closed."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    venue = models.ForeignKey(Venue, on_delete=models.CASCADE, related_name="closures")
    first_date = models.DateField(help_text="In the venue's time zone")
    last_date = models.DateField(help_text="Included")
    reason = models.CharField(
        max_length=200, blank=True, default="", help_text="Shown to guests, for example: Closed for Easter"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="closure_last_date_not_before_first",
                condition=Q(last_date__gte=F("first_date")),
                violation_error_message=gettext_lazy("The last day is before the first."),
            )
        ]

    def __str__(self) -> str:
        return pgettext("dates", "%(first)s to %(last)s") % {"first": self.first_date, "last": self.last_date}
