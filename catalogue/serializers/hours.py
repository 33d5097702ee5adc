"""What the opening hours of given days look like."""

from typing import Any

from rest_framework import serializers

from catalogue.hours.date_range import SpecialOpening
from catalogue.hours.serialization import clock_time
from catalogue.serializers.restaurants import SpanRecord
from catalogue.serializers.shared import SLUG, AttributionRecord
from framework.api.pagination.schema import DateTimeField


class OpeningRecord(serializers.Serializer[Any]):
    """A span of time in which it is open, on its own clock."""

    opens_at = DateTimeField()
    closes_at = DateTimeField()


class SpecialOpeningRecord(serializers.Serializer[Any]):
    """A date that differs from the week: these openings replace those that begin on it. None: closed."""

    date = serializers.DateField()
    name = serializers.CharField(allow_null=True, help_text="The public holiday that it is.")
    periods = SpanRecord(many=True)

    def to_representation(self, instance: SpecialOpening) -> dict[str, Any]:
        """Return the times as a clock shows them."""
        periods = [{"open": clock_time(opens), "close": clock_time(closes)} for opens, closes in instance.periods]
        return {"date": instance.date.isoformat(), "name": instance.name, "periods": periods}


class HolidayRecord(serializers.Serializer[Any]):
    """A public holiday of the market."""

    date = serializers.DateField()
    name = serializers.CharField()


class OpeningsRecord(serializers.Serializer[Any]):
    """When a restaurant is open on some days; spans are merged, in order, and cut to these days."""

    slug = serializers.RegexField(SLUG)
    timezone = serializers.CharField(help_text="IANA name.")
    to = serializers.DateField(source="last")
    spans = OpeningRecord(many=True, allow_null=True, help_text="Null where the hours are not known.")
    special_days = SpecialOpeningRecord(many=True, help_text="Dates on which other hours hold than in the week.")
    holidays = HolidayRecord(
        many=True,
        help_text="Public holidays of the market. Of one that is not among the special days the hours say nothing of"
        " its own: the week holds.",
    )
    attribution = AttributionRecord(many=True, help_text="Show these lines with the data.")

    def get_fields(self) -> dict[str, Any]:
        """Add the field whose name is a word of Python."""
        return {"from": serializers.DateField(source="first"), **super().get_fields()}
