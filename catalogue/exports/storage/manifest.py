"""The manifest of an export: its files, the time of its data, and the licences."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from catalogue.exports import datasets
from catalogue.exports.datasets import Column
from catalogue.exports.formats.part_reader import REMOVED
from catalogue.models import Export, ExportPart, Source
from catalogue.models.exports import PREFIX
from framework.api.pagination.schema import format_datetime
from framework.public_ids import encode

NAME = "manifest.json"
# SPDX prefixes of licences that require derived databases to have the same licence.
SHARE_ALIKE = ("ODbL-", "CC-BY-SA-", "CC-BY-NC-SA-")
CONSISTENCY = (
    "All files are of one snapshot of the database, taken at snapshot_at. No row is in two files; files and rows are"
    " in the order {order}. Licences are those that held when this manifest was written."
)
DELTA_CONSISTENCY = (
    " Together with those of since_export they say what there was at snapshot_at: take away the ids in files of the"
    " kind `removed`, then put each row of the kind `rows` in the place of the one with its id."
)


def describe_schema(export: Export) -> list[dict[str, str]]:
    """Return name, type and description of the fields of a line or the columns of a table."""
    dataset = datasets.get_dataset(export)
    if export.format == Export.Format.JSONL_GZ:
        return [{"name": name, "type": kind} for name, kind in dataset.schema.items()]
    return describe_columns(dataset.columns)


def describe_columns(columns: Sequence[Column]) -> list[dict[str, str]]:
    return [
        {"name": column.name, "type": column.type}
        | ({"description": column.description} if column.description else {})
        for column in columns
    ]


def file_name(export: Export, part: ExportPart) -> str:
    """Return the public name of a part; it is the same for two exports of equal rows."""
    prefix = f"{export.dataset}-removed" if part.kind == ExportPart.Kind.REMOVED else export.dataset
    return f"{prefix}-{part.seq:05}.{export.format}"


def render(export: Export, parts: Sequence[ExportPart]) -> bytes:
    """Return the manifest of an export whose parts are all written; equal parts give equal bytes. One query.

    Two exports of equal rows differ only in `id` and the timestamps.
    """
    since = export.since_export_id
    sources = Source.objects.filter(pk__in={key for part in parts for key in part.sources}).order_by("pk")
    content: dict[str, Any] = {
        "id": export.public_id,
        "dataset": export.dataset,
        "format": export.format,
        "filter": dict(sorted(export.filter.items())),
        "fields": export.fields,
        "since_export": encode(PREFIX, since) if since else None,
        "snapshot_at": format_datetime(export.snapshot_at) if export.snapshot_at else None,
        "changes_from": format_datetime(export.changes_from) if export.changes_from else None,
        "consistency": CONSISTENCY.format(order=datasets.get_dataset(export).order)
        + (DELTA_CONSISTENCY if since else ""),
        "schema": describe_schema(export),
        **({"schema_of_removed": describe_columns(REMOVED)} if since else {}),
        "licences": [
            {
                "source": source.key,
                "name": source.name,
                "license": source.license,
                "attribution": source.attribution,
                "share_alike": source.license.startswith(SHARE_ALIKE),
            }
            for source in sources
        ],
        "rows": count_rows(parts, ExportPart.Kind.ROWS),
        "removed": count_rows(parts, ExportPart.Kind.REMOVED),
        "files": [
            {
                "name": file_name(export, part),
                "kind": part.kind,
                "bytes": part.bytes,
                "rows": part.rows,
                "sha256": part.sha256,
            }
            for part in parts
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def count_rows(parts: Sequence[ExportPart], kind: ExportPart.Kind) -> int:
    """Return the number of rows, or removed ids, of all parts of a kind."""
    return sum(part.rows or 0 for part in parts if part.kind == kind)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
