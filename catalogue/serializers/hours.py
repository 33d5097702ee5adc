"""Opening hours of given days."""

from typing import Any

from rest_framework import serializers

from catalogue.hours.date_range import DatedException
from catalogue.hours.serialization import format_time
from catalogue.serializers.restaurants import SpanRecord
from catalogue.serializers.shared import SLUG, AttributionRecord
from framework.api.pagination.schema import DateTimeField


class OpenIntervalRecord(serializers.Serializer[Any]):
    """An open interval, in local time."""

    opens_at = DateTimeField()
    closes_at = DateTimeField()


class DatedExceptionRecord(serializers.Serializer[Any]):
    """A date whose periods replace the weekly ones that open on it; closed without periods."""

    date = serializers.DateField()
    name = serializers.CharField(allow_null=True, help_text="The name of the public holiday.")
    periods = SpanRecord(many=True)

    def to_representation(self, instance: DatedException) -> dict[str, Any]:
        periods = [{"open": format_time(opens), "close": format_time(closes)} for opens, closes in instance.periods]
        return {"date": instance.date.isoformat(), "name": instance.name, "periods": periods}


class HolidayRecord(serializers.Serializer[Any]):
    """A public holiday of the market."""

    date = serializers.DateField()
    name = serializers.CharField()


class HoursForDatesRecord(serializers.Serializer[Any]):
    """The opening hours of some days; `spans` are merged, sorted and cut to these days."""

    slug = serializers.RegexField(SLUG)
    timezone = serializers.CharField(help_text="IANA name.")
    to = serializers.DateField(source="last")
    spans = OpenIntervalRecord(many=True, allow_null=True, help_text="Null if the hours are unknown.")
    special_days = DatedExceptionRecord(many=True, help_text="Dates that differ from the weekly periods.")
    holidays = HolidayRecord(
        many=True,
        help_text="Public holidays of the market. On one that is not a special day the weekly periods hold.",
    )
    attribution = AttributionRecord(many=True, help_text="Show these lines with the data.")

    def get_fields(self) -> dict[str, Any]:
        return {"from": serializers.DateField(source="first"), **super().get_fields()}
