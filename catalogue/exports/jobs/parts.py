"""Writing one claimed part of an export into a file."""

from contextlib import suppress
from time import monotonic

import psycopg

from catalogue.exports import datasets, formats
from catalogue.exports.datasets.base import query_parameters
from catalogue.exports.formats import PartReader
from catalogue.exports.jobs.claims import RENEW_AFTER_S, LeaseLostError, filter_claimed, renew_lease
from catalogue.exports.jobs.shared_snapshot import Snapshot
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart


def reuse_file(export: Export, part: ExportPart, snapshot: Snapshot) -> bool:
    """Mark a claimed part as done if its file of an earlier snapshot has the rows of this one.

    That is so if no row of the part was added, changed or deleted in between. Raises LeaseLostError.
    """
    if not part.file or part.horizon is None or part.kind == ExportPart.Kind.REMOVED:
        return False
    dataset = datasets.get_dataset(export)
    is_changed = " OR ".join(f"age({version}) <= age(%(horizon)s::xid)" for version in dataset.versions)
    select = dataset.select(f"count(*), coalesce(bool_or({is_changed}), false)", ordered=False)
    arguments = query_parameters(export, part) | {"horizon": str(part.horizon % 2**32)}
    if psycopg.ClientCursor(snapshot.connection).execute(select.encode(), arguments).fetchone() != (part.rows, False):
        return False
    if not filter_claimed(part).update(
        state=ExportPart.State.DONE, lease_until=None, attempts=0, generation=snapshot.generation
    ):
        raise LeaseLostError
    return True


def write_part(export: Export, part: ExportPart, snapshot: Snapshot, *, renew_after_s: float = RENEW_AFTER_S) -> None:
    """Stream the rows of a claimed part into its file, then record size and checksum on its row.

    Raises LeaseLostError, OSError of the storage, and DatabaseError or psycopg.Error of the query; the file is deleted
    then.
    """
    name = files.name_file(export, part)
    path = f"{export.public_id}/{name}"
    renewed_at = monotonic()

    def heartbeat() -> None:
        nonlocal renewed_at
        if monotonic() - renewed_at >= renew_after_s:
            renew_lease(part)
            renewed_at = monotonic()

    reader = PartReader(
        dataset=datasets.get_dataset(export),
        parameters=query_parameters(export, part),
        connection=snapshot.connection,
        snapshot=snapshot.name,
        heartbeat=heartbeat,
        kind=part.kind,
    )
    with files.open_draft(path) as draft:
        count = formats.get_writer(export)(reader, draft)
        sources = list_sources(reader)
        renew_lease(part)
        draft.publish(path)
    is_recorded = filter_claimed(part).update(
        state=ExportPart.State.DONE,
        lease_until=None,
        # A part whose file was lost keeps its count, so that it is not rewritten without end.
        attempts=part.attempts if part.rows is not None and not part.file else 0,
        generation=snapshot.generation,
        horizon=snapshot.horizon,
        file=name,
        rows=count,
        bytes=draft.size,
        sha256=draft.sha256,
        sources=sources,
    )
    if not is_recorded:
        files.storage().delete(path)
        raise LeaseLostError
    previous_file, part.file = part.file, name
    if previous_file:
        # The cleanup task deletes it if this fails.
        with suppress(OSError):
            files.storage().delete(f"{export.public_id}/{previous_file}")


def list_sources(reader: PartReader) -> list[str]:
    """Return the keys of the sources of the rows in a part."""
    if reader.is_of_removed:
        return []
    select = reader.dataset.select(f"DISTINCT unnest({reader.dataset.sources}) AS key", ordered=False)
    rows = psycopg.ClientCursor(reader.connection).execute(select.encode(), reader.parameters).fetchall()
    return sorted(key for (key,) in rows)
