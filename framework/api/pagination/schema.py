"""Serializers of pages with a cursor, and of datetimes."""

from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers


class DateTimeField(serializers.DateTimeField):
    """A datetime to the second, in the zone of the value."""

    def to_representation(self, value: Any) -> Any:
        return value.replace(microsecond=0) if isinstance(value, datetime) else value


def format_datetime(value: datetime) -> str:
    """The datetime in DATETIME_FORMAT (config/settings/api.py): in UTC and to the second."""
    return f"{value.astimezone(UTC).isoformat()[:19]}Z"


class CursorPageRecord(serializers.Serializer[Any]):
    """The position of a page in its list."""

    limit = serializers.IntegerField(min_value=1, help_text="Rows on a page, at most.")
    next_cursor = serializers.CharField(allow_null=True, help_text="Give it as `cursor` for the next page.")
    has_more = serializers.BooleanField()
    as_of = DateTimeField(help_text="The moment of which all pages of this list speak.")
