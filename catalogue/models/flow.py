"""Time-based discounts."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from catalogue.models.places import Restaurant


class FlowRule(models.Model):
    """A discount that comes back every week: 30 percent at 17:30 from Monday to Thursday."""

    restaurant = models.ForeignKey(Restaurant, on_delete=models.CASCADE, related_name="flow_rules")
    weekdays = ArrayField(models.IntegerField(), help_text="0 is Monday")
    time = models.TimeField(help_text="The restaurant's wall clock")
    percent = models.PositiveSmallIntegerField()
    active = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="flow_rule_percent_in_1_to_90", condition=Q(percent__range=(1, 90))),
            models.CheckConstraint(
                name="flow_rule_weekdays_in_0_to_6",
                condition=Q(weekdays__contained_by=[0, 1, 2, 3, 4, 5, 6], weekdays__len__gte=1),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.percent} % at {self.time:%H:%M}"
