"""Parquet: rows come as Arrow by ADBC, which copies them in binary, and go out in one row group."""

from contextlib import closing

import adbc_driver_postgresql.dbapi as adbc
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq

from catalogue.exports.files import Draft
from catalogue.exports.formats.reading import Reading
from catalogue.exports.snapshots import conninfo


def write(reading: Reading, draft: Draft) -> int:
    """A table of all rows."""
    select = psycopg.ClientCursor(reading.connection).mogrify(
        reading.dataset.select(reading.dataset.flat).encode(), reading.parameters
    )
    with closing(adbc.connect(conninfo())) as apart, apart.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        cursor.execute(f"SET TRANSACTION SNAPSHOT '{reading.snapshot}'")
        cursor.execute(select)
        batches = []
        reader = cursor.fetch_record_batch()
        for batch in reader:
            batches.append(batch)
            reading.beat()
        table = pa.Table.from_batches(batches, schema=reader.schema)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", row_group_size=max(1, table.num_rows))
    draft.write(sink.getvalue().to_pybytes())
    return int(table.num_rows)
