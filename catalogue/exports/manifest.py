"""The manifest of an export: what its files hold, of which moment, and under whose terms."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from catalogue.exports import datasets
from catalogue.models import Export, ExportPart, Source

NAME = "manifest.json"
# SPDX identifiers of licences whose derived databases have to be passed on under the same terms begin like this.
SHARE_ALIKE = ("ODbL-", "CC-BY-SA-", "CC-BY-NC-SA-")
PROMISE = (
    "All files are of one snapshot of the database, taken at snapshot_at. No row is in two files; files and rows are"
    " in the order of the ids."
)


def schema(export: Export) -> dict[str, str]:
    """The fields of a row with their types, as the format of the export has them."""
    dataset = datasets.of(export)
    if export.format == Export.Format.JSONL_GZ:
        return dict(dataset.schema)
    return {column.name: column.type for column in dataset.columns}


def file_name(export: Export, part: ExportPart) -> str:
    """What callers call a part: the same for two exports of equal rows."""
    return f"{export.dataset}-{part.seq:05}.{export.format}"


def render(export: Export, parts: Sequence[ExportPart]) -> bytes:
    """The manifest of an export whose parts are all written. One query."""
    keys = {key for part in parts for key in part.sources}
    content: dict[str, Any] = {
        "id": export.public_id,
        "dataset": export.dataset,
        "format": export.format,
        "filter": export.filter,
        "snapshot_at": f"{export.snapshot_at:%Y-%m-%dT%H:%M:%SZ}",
        "consistency": PROMISE,
        "schema": schema(export),
        "licences": [
            {
                "source": source.key,
                "name": source.name,
                "license": source.license,
                "attribution": source.attribution,
                "share_alike": source.license.startswith(SHARE_ALIKE),
            }
            for source in Source.objects.filter(pk__in=keys).order_by("pk")
        ],
        "rows": sum(part.rows or 0 for part in parts),
        "files": [
            {"name": file_name(export, part), "bytes": part.bytes, "rows": part.rows, "sha256": part.sha256}
            for part in parts
        ],
    }
    return json.dumps(content, ensure_ascii=False, indent=2).encode() + b"\n"


def digest(content: bytes) -> str:
    """The SHA-256 of a rendered manifest."""
    return hashlib.sha256(content).hexdigest()
