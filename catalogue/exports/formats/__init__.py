"""File formats of exports: JSON lines, CSV, Parquet."""

from collections.abc import Mapping

from catalogue.exports.formats.part_reader import PartReader, Writer
from catalogue.models import Export

CONTENT_TYPES: Mapping[str, str] = {
    Export.Format.JSONL_GZ: "application/gzip",
    Export.Format.CSV_GZ: "application/gzip",
    Export.Format.PARQUET: "application/vnd.apache.parquet",
}


def get_writer(export: Export) -> Writer:
    """Return the writer of the export's format. It is imported here, as web servers do not need it."""
    if export.format == Export.Format.PARQUET:
        from catalogue.exports.formats import parquet

        return parquet.write
    from catalogue.exports.formats import text

    return text.write_csv if export.format == Export.Format.CSV_GZ else text.write_json
