"""How a page of a list with a cursor is shown, and moments everywhere."""

from datetime import UTC, datetime
from typing import Any

from rest_framework import serializers


class DateTimeField(serializers.DateTimeField):
    """A moment to the second, in the zone that it is given in."""

    def to_representation(self, value: Any) -> Any:
        """Return it for the renderer, which writes RFC 3339."""
        return value.replace(microsecond=0) if isinstance(value, datetime) else value


def format_datetime(moment: datetime) -> str:
    """A moment as DATETIME_FORMAT has it (framework.api.wire): in UTC and to the second."""
    return f"{moment.astimezone(UTC).isoformat()[:19]}Z"


class CursorPageRecord(serializers.Serializer[Any]):
    """Where a page stands in its list."""

    limit = serializers.IntegerField(min_value=1, help_text="Rows on a page, at most.")
    next_cursor = serializers.CharField(allow_null=True, help_text="Give it as `cursor` for the next page.")
    has_more = serializers.BooleanField()
    as_of = DateTimeField(help_text="The moment of which all pages of this list speak.")
