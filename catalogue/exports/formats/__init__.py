"""How the files of exports are written: lines of JSON, CSV, Parquet."""

from collections.abc import Mapping

from catalogue.exports.formats.part_reader import Reading, Writer
from catalogue.models import Export

__all__ = ["CONTENT_TYPES", "Reading", "Writer", "writer"]

CONTENT_TYPES: Mapping[str, str] = {
    Export.Format.JSONL_GZ: "application/gzip",
    Export.Format.CSV_GZ: "application/gzip",
    Export.Format.PARQUET: "application/vnd.apache.parquet",
}


def writer(export: Export) -> Writer:
    """What writes the files of an export. Only workers ask: it imports what web servers have no need of."""
    if export.format == Export.Format.PARQUET:
        from catalogue.exports.formats import parquet

        return parquet.write
    from catalogue.exports.formats import text

    return text.write_csv if export.format == Export.Format.CSV_GZ else text.write_json
