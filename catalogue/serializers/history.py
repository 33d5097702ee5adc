"""Versions and changes."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

import orjson
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.history import Change, ChangePage
from catalogue.models import Version
from catalogue.serializers.shared import SLUG, page_of
from framework.api.renderers import JSONRenderer


class ExactMoment(serializers.DateTimeField):
    """A moment to the microsecond: two versions may lie within one second."""

    def to_representation(self, value: Any) -> Any:
        return value if isinstance(value, datetime) else super().to_representation(value)


class OperationRecord(serializers.Serializer[Any]):
    """An operation of JSON Patch (RFC 6902) on the record, with the old value."""

    op = serializers.ChoiceField(choices=["replace", "add", "remove"])
    path = serializers.CharField(
        help_text="`/phone`, `/address/line1`, `/location`, `/hours/periods`, `/attributes/wifi`."
    )
    value = serializers.JSONField(required=False, help_text="Not with `remove`.")
    old = serializers.JSONField(required=False, help_text="Not with `add`.")

    def to_representation(self, instance: Any) -> Any:
        return instance


class EntryRecord(serializers.Serializer[Any]):
    """A version of a restaurant, and its changes from the previous one."""

    version = serializers.IntegerField(min_value=1)
    valid_from = ExactMoment()
    valid_to = ExactMoment(allow_null=True, help_text="Null for the current version.")
    actor = serializers.CharField(help_text="`import:` and a source, `owner`, `staff`, `system`.")
    change = serializers.ChoiceField(choices=Version.Kind.choices)
    patch = OperationRecord(many=True, help_text="Empty if no public field has changed.")


HistoryAnswer = page_of(EntryRecord, name="HistoryAnswer", description="A page of versions, newest first.")


class ChangedRecord(serializers.Serializer[Any]):
    """The free fields of a restaurant as they are now, without its offer and the state of its hours."""

    slug = serializers.RegexField(SLUG)
    name = serializers.CharField()
    version = serializers.IntegerField(min_value=1)


class ChangeRecord(serializers.Serializer[Any]):
    """One change of one restaurant."""

    seq = serializers.IntegerField(min_value=1, help_text="Its position in the feed.")
    type = serializers.ChoiceField(choices=Version.Kind.choices)
    slug = serializers.RegexField(SLUG, help_text="The current slug.")
    version = serializers.IntegerField(min_value=1, help_text="The version that it made.")
    at = ExactMoment()
    paths = serializers.ListField(child=serializers.CharField(), help_text="The changed paths of the record.")
    into = serializers.RegexField(
        SLUG, allow_null=True, help_text="Of `merged`: the restaurant that it was merged into."
    )
    record = ChangedRecord(
        required=False,
        allow_null=True,
        help_text="With `include=record`: the fields of `core` as exports have them. Null: merged or erased.",
    )


class FeedPaginationRecord(serializers.Serializer[Any]):
    """The position of a page in the feed."""

    limit = serializers.IntegerField(min_value=1)
    next_since = serializers.IntegerField(min_value=0, help_text="The `since` of the next page, now or later.")
    has_more = serializers.BooleanField(help_text="Whether more changes follow; this page may be empty.")


@extend_schema_serializer(many=False)
class FeedAnswer(serializers.Serializer[Any]):
    """A page of the feed, oldest first."""

    data = ChangeRecord(many=True)  # type: ignore[assignment]  # a name of the contract
    pagination = FeedPaginationRecord()


def render_changes(page: ChangePage, *, with_record: bool) -> bytes:
    """Render a FeedAnswer, with the records that the database has rendered."""
    return JSONRenderer().render(
        {
            "data": [_change(change, with_record=with_record) for change in page.rows],
            "pagination": {"limit": page.limit, "next_since": page.next_since, "has_more": page.has_more},
        }
    )


def _change(change: Change, *, with_record: bool) -> dict[str, Any]:
    shown = asdict(change)
    record = shown.pop("record")
    return {**shown, "record": orjson.Fragment(record) if record else None} if with_record else shown
