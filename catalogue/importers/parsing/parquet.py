"""Rows of Parquet files, with one batch in memory at a time."""

from collections.abc import Collection, Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from catalogue.importers.row_errors import UnreadableFileError, first_line

BATCH_SIZE = 2000


def open_file(stream: BinaryIO) -> pq.ParquetFile:
    """Raises UnreadableFileError."""
    try:
        return pq.ParquetFile(stream)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFileError(f"This is no Parquet file, or it is cut off: {first_line(error)}.") from error


def read_batches(file: pq.ParquetFile, columns: Collection[str]) -> Iterator[pa.RecordBatch]:
    """Yield batches of those columns that the file has. Raises UnreadableFileError."""
    present = [name for name in file.schema_arrow.names if name in columns]
    try:
        yield from file.iter_batches(batch_size=BATCH_SIZE, columns=present, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise UnreadableFileError(f"The Parquet file is cut off or broken: {first_line(error)}.") from error


def to_dicts(batch: pa.RecordBatch, mask: pa.Array | None = None) -> Iterator[dict[str, Any] | None]:
    """Yield each row as a dictionary; None for rows outside `mask`, which are not converted."""
    if mask is None:
        yield from batch.to_pylist()
        return
    selected = iter(batch.filter(mask).to_pylist())
    for is_selected in mask.to_pylist():
        yield next(selected) if is_selected else None


def is_any_of(values: pa.Array, predicate: Any) -> pa.Array:
    """Return a mask of the values that satisfy `predicate`, called once per distinct value; never null."""
    distinct = [value for value in pc.unique(values).to_pylist() if value is not None and predicate(value)]
    return pc.is_in(values, value_set=pa.array(distinct, type=values.type))
