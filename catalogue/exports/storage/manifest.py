"""The manifest of an export: what its files hold, of which moment, and under whose terms."""

import hashlib
import json
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from catalogue.exports import datasets
from catalogue.exports.datasets import Column
from catalogue.exports.formats.part_reader import REMOVED
from catalogue.models import Export, ExportPart, Source
from catalogue.models.exports import PREFIX
from framework.public_ids import encode

NAME = "manifest.json"
# SPDX identifiers of licences whose derived databases have to be passed on under the same terms begin like this.
SHARE_ALIKE = ("ODbL-", "CC-BY-SA-", "CC-BY-NC-SA-")
PROMISE = (
    "All files are of one snapshot of the database, taken at snapshot_at. No row is in two files; files and rows are"
    " in the order {order}. Licences are those that held when this manifest was written."
)
PROMISE_OF_DELTA = (
    " Together with those of since_export they say what there was at snapshot_at: take away the ids in files of the"
    " kind `removed`, then put each row of the kind `rows` in the place of the one with its id."
)


def schema(export: Export) -> list[dict[str, str]]:
    """The fields of a line, or the columns of a table, in their order: each with name, type and meaning."""
    dataset = datasets.of(export)
    if export.format == Export.Format.JSONL_GZ:
        return [{"name": name, "type": kind} for name, kind in dataset.schema.items()]
    return columns(dataset.columns)


def columns(of: Sequence[Column]) -> list[dict[str, str]]:
    """Columns as the manifest tells them."""
    return [
        {"name": column.name, "type": column.type} | ({"description": column.words} if column.words else {})
        for column in of
    ]


def file_name(export: Export, part: ExportPart) -> str:
    """What callers call a part: the same for two exports of equal rows."""
    what = f"{export.dataset}-removed" if part.kind == ExportPart.Kind.REMOVED else export.dataset
    return f"{what}-{part.seq:05}.{export.format}"


def render(export: Export, parts: Sequence[ExportPart]) -> bytes:
    """The manifest of an export whose parts are all written: the same bytes for the same parts. One query.

    Of two exports of equal rows `id` and the moments alone differ.
    """
    since = export.since_export_id
    content: dict[str, Any] = {
        "id": export.public_id,
        "dataset": export.dataset,
        "format": export.format,
        "filter": dict(sorted(export.filter.items())),
        "fields": export.fields,
        "since_export": encode(PREFIX, since) if since else None,
        "snapshot_at": moment(export.snapshot_at),
        "changes_from": moment(export.changes_from),
        "consistency": PROMISE.format(order=datasets.of(export).order) + (PROMISE_OF_DELTA if since else ""),
        "schema": schema(export),
        **({"schema_of_removed": columns(REMOVED)} if since else {}),
        "licences": licences({key for part in parts for key in part.sources}),
        "rows": rows(parts, ExportPart.Kind.ROWS),
        "removed": rows(parts, ExportPart.Kind.REMOVED),
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


def rows(parts: Sequence[ExportPart], kind: ExportPart.Kind) -> int:
    """How many rows, or ids, the parts of a kind have together."""
    return sum(part.rows or 0 for part in parts if part.kind == kind)


def licences(keys: Collection[str]) -> list[dict[str, Any]]:
    """Under whose terms what comes from these sources is passed on. One query."""
    return [
        {
            "source": source.key,
            "name": source.name,
            "license": source.license,
            "attribution": source.attribution,
            "share_alike": source.license.startswith(SHARE_ALIKE),
        }
        for source in Source.objects.filter(pk__in=keys).order_by("pk")
    ]


def moment(at: datetime | None) -> str | None:
    """A moment to the second, rounded down, as the API writes it."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}" if at else None


def digest(content: bytes) -> str:
    """The SHA-256 of a manifest or another file, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()
