"""Exports."""

from datetime import UTC, datetime
from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from catalogue.exports import datasets
from catalogue.models import Export, ExportPart, Restaurant
from catalogue.models.exports import PREFIX
from catalogue.serializers.shared import SLUG
from framework.api.fields import StrictChoiceField, StrictListField, StrictSerializer, TextField
from framework.api.pagination.schema import CursorPageRecord, DateTimeField
from framework.errors import unknown_name
from framework.public_ids import pattern

# RFC 3339, section 5.6, without leap seconds.
MOMENT = (
    "^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]{1,6})?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
)
# Only restaurants have more than one.
GROUPS = datasets.GROUPS[Export.Dataset.RESTAURANTS]
SHA256 = "^[0-9a-f]{64}$"


class Since(TextField):
    """A moment with an offset, parsed as RFC 3339 in UTC."""

    format = "date-time"

    def __init__(self, **options: Any) -> None:
        super().__init__(pattern=MOMENT, hint="This must be a moment like 2026-11-21T19:30:00Z.", **options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        try:
            return datetime.fromisoformat(text).astimezone(UTC).isoformat().replace("+00:00", "Z")
        except (ValueError, OverflowError) as error:
            raise serializers.ValidationError("There is no such moment in the calendar.") from error


class Group(StrictChoiceField):
    """A field group; an unknown one is rejected with the nearest one, or with the dataset of that name."""

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, str) and data not in self.choices:
            known = list(self.choices)
            raise serializers.ValidationError(
                datasets.find_dataset_hint(data) or unknown_name("field group", data[:80], known).message
            )
        return super().to_internal_value(data)


class Groups(StrictListField):
    """Distinct field groups."""

    def to_internal_value(self, data: Any) -> list[str]:
        names: list[str] = super().to_internal_value(data)
        if len(set(names)) < len(names):
            raise serializers.ValidationError("This must name each field group once.")
        return names


class NewExportFilter(StrictSerializer):
    """Conditions for rows, all of which must hold."""

    market = TextField(required=False, max_length=40, pattern=SLUG, help_text="A slug of GET /v1/markets.")
    updated_since = Since(required=False, max_length=40, help_text="Changed at this moment or later.")
    status = StrictChoiceField(required=False, choices=Restaurant.Status.choices)


class NewExport(StrictSerializer):
    """A new export."""

    dataset = StrictChoiceField(choices=Export.Dataset.choices)
    format = StrictChoiceField(
        required=False,
        default=Export.Format.JSONL_GZ.value,
        choices=Export.Format.choices,
        help_text=(
            "`jsonl.gz`: lines of JSON, gzipped, with all fields of the API; `csv.gz` and `parquet`: flat tables, the"
            " same columns in both."
        ),
    )
    filter = NewExportFilter(required=False, help_text="Left out: all rows.")
    fields = Groups(  # type: ignore[assignment]  # a name of the contract
        child=Group(choices=GROUPS),
        required=False,
        min_length=1,
        max_length=len(GROUPS),
        help_text="Of `restaurants`: field groups in addition to `core`, without repetition.",
    )
    since_export = TextField(
        required=False,
        max_length=29,
        pattern=pattern("ex"),
        hint=f"This must be the id of an export: {PREFIX}_ and 26 letters.",
        help_text="An export of yours that has succeeded, with equal parameters: exports only later changes.",
    )


class ExportFileRecord(serializers.Serializer[Any]):
    """A file of an export."""

    name = serializers.RegexField("^[a-z0-9.-]{1,80}$")
    kind = serializers.ChoiceField(
        choices=ExportPart.Kind.values, help_text="Rows; or, for a delta, the ids of rows to delete first."
    )
    bytes = serializers.IntegerField(min_value=1)
    rows = serializers.IntegerField(min_value=0, help_text="Rows, or ids.")
    sha256 = serializers.RegexField(SHA256, help_text="Of the bytes as they are sent, compressed.")
    url = serializers.URLField(help_text="Valid for an hour, without a session. GET the export for a new one.")


class ExportFilterRecord(serializers.Serializer[Any]):
    """The conditions that were given."""

    market = serializers.RegexField(SLUG, required=False)
    updated_since = serializers.CharField(required=False, help_text="RFC 3339.")
    status = serializers.ChoiceField(choices=Restaurant.Status.choices, required=False)

    def to_representation(self, instance: Any) -> Any:
        return instance


class ExportRecord(serializers.Serializer[Any]):
    """An export. `files` is empty and `manifest_url` null until it has succeeded, and after it has expired.

    `awaiting_payment` becomes `queued` once it is paid, then `running`, then `succeeded`, `failed` or `cancelled`;
    `succeeded` becomes `expired` when the files are removed.
    """

    id = serializers.RegexField(pattern("ex"), source="export.public_id")
    status = serializers.ChoiceField(choices=Export.Status.values, source="export.status")
    progress = serializers.FloatField(
        min_value=0,
        max_value=1,
        help_text="Of the parts. It never decreases, unless a failed export is restarted.",
    )
    dataset = serializers.ChoiceField(choices=Export.Dataset.values, source="export.dataset")
    format = serializers.ChoiceField(choices=Export.Format.values, source="export.format")
    filter = ExportFilterRecord(source="export.filter")
    fields = serializers.ListField(  # type: ignore[assignment]  # a name of the contract
        child=serializers.CharField(),
        source="export.fields",
        help_text="The requested field groups in addition to `core`.",
    )
    since_export = serializers.RegexField(
        pattern("ex"), allow_null=True, help_text="The export since which changes are exported."
    )
    rows = serializers.IntegerField(
        min_value=0,
        allow_null=True,
        source="export.rows",
        help_text="In all files of the kind `rows`; null until it has succeeded.",
    )
    removed = serializers.IntegerField(
        min_value=0, allow_null=True, help_text="Ids in all files of the kind `removed`; null until it has succeeded."
    )
    payment = serializers.RegexField(
        pattern("pay"), allow_null=True, help_text="What paid for it (`GET /v1/payments`); null if it was free."
    )
    created_at = DateTimeField(source="export.created_at")
    snapshot_at = DateTimeField(
        allow_null=True,
        source="export.snapshot_at",
        help_text="The moment as of which all files are. Null while queued; it changes if all workers crash.",
    )
    changes_from = DateTimeField(
        allow_null=True,
        source="export.changes_from",
        help_text="The files contain all earlier changes: use it as `updated_since`. Null as above.",
    )
    files = ExportFileRecord(many=True)
    manifest_url = serializers.URLField(
        allow_null=True, help_text="A file of JSON: schema, licences, rows, and the files with their checksums."
    )
    expires_at = DateTimeField(allow_null=True, source="export.expires_at", help_text="When the files are removed.")
    error = serializers.SerializerMethodField(help_text="Why it has failed or is retried; null otherwise.")

    def get_error(self, shown: Any) -> str | None:
        return shown.export.error or None


@extend_schema_serializer(many=False)
class ExportAnswer(serializers.Serializer[Any]):
    """A page of exports."""

    data = ExportRecord(many=True, source="rows")  # type: ignore[assignment]  # a name of the contract
    pagination = CursorPageRecord(source="*")
