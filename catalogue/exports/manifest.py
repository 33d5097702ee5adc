"""The manifest of an export: what its files hold, of which moment, and under whose terms."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from catalogue.exports import rows
from catalogue.models import Export, ExportPart, Source

NAME = "manifest.json"
# SPDX identifiers of licences whose derived databases have to be passed on under the same terms begin like this.
SHARE_ALIKE = ("ODbL-", "CC-BY-SA-", "CC-BY-NC-SA-")
PROMISE = (
    "The rows are the restaurants that were in the catalogue at snapshot_at. Each file is of one moment, snapshot_at"
    " or later: a row whose updated_at is after snapshot_at was changed in between, and the filter was applied to it"
    " as it is written here. No restaurant is in two files; files and rows are in the order of the ids."
)


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
        "schema": dict(rows.SCHEMA),
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
