"""Lines of JSON and of CSV, gzipped as they come out of the database."""

from catalogue.exports.files import Draft, Zipped
from catalogue.exports.formats.reading import Reading

# Control characters, which no JSON holds raw: nothing is ever quoted or escaped.
RAW = r"(FORMAT csv, DELIMITER E'\x02', QUOTE E'\x01')"
CSV = "(FORMAT csv, HEADER)"


def write_json(reading: Reading, draft: Draft) -> int:
    """A line of JSON for each row."""
    return _write(reading, draft, reading.dataset.select(reading.dataset.record), RAW)


def write_csv(reading: Reading, draft: Draft) -> int:
    """A line with the names of the columns, then one for each row."""
    return _write(reading, draft, reading.dataset.select(reading.dataset.flat), CSV)


def _write(reading: Reading, draft: Draft, select: str, how: str) -> int:
    zipped = Zipped(draft)
    with reading.connection.cursor() as cursor:
        with cursor.copy(f"COPY ({select}) TO STDOUT {how}".encode(), reading.parameters) as copied:
            for line in copied:
                zipped.write(bytes(line))
                reading.beat()
        count = cursor.rowcount
    zipped.close()
    return count
