"""Rows out of Parquet files, a batch in memory at a time."""

from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from catalogue.importers.row_errors import UnreadableFileError

ROWS = 2000


def open_file(stream: BinaryIO) -> pq.ParquetFile:
    """Raises UnreadableFileError."""
    try:
        return pq.ParquetFile(stream)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFileError(f"This is no Parquet file, or it is cut off: {_words(error)}.") from error


def batches(file: pq.ParquetFile, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
    """The given columns, as far as the file has them. Raises UnreadableFileError."""
    present = [name for name in file.schema_arrow.names if name in columns]
    try:
        yield from file.iter_batches(batch_size=ROWS, columns=present, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFileError(f"The Parquet file is cut off or broken: {_words(error)}.") from error


def dicts(batch: pa.RecordBatch, wanted: pa.Array | None = None) -> Iterator[dict[str, Any] | None]:
    """Each row as a dictionary; None for those that are not `wanted`, which then cost next to nothing."""
    if wanted is None:
        yield from batch.to_pylist()
        return
    taken = iter(batch.filter(wanted).to_pylist())
    for is_wanted in wanted.to_pylist():
        yield next(taken) if is_wanted else None


def among(values: pa.Array, wanted: Any) -> pa.Array:
    """Which of the values satisfy `wanted`, asked once for each distinct one; never a null."""
    distinct = [value for value in pc.unique(values).to_pylist() if value is not None and wanted(value)]
    return pc.is_in(values, value_set=pa.array(distinct, type=values.type))


def _words(error: Exception) -> str:
    lines = str(error).strip().splitlines() or ["unreadable"]
    return lines[0].rstrip(".")[:200]
