"""Copies the files of a finished export into a folder, under the names that callers know."""

import os
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile

from catalogue.exports.downloads import signed_urls
from catalogue.exports.downloads.byte_ranges import Span
from catalogue.exports.requests import representation
from catalogue.exports.storage import manifest
from catalogue.models import Export
from framework.errors import ServiceUnavailable


class DifferentError(ServiceUnavailable):
    """A file is not as it was written."""


def prepare(folder: Path) -> None:
    """Make the folder that files are to be copied into. Raises OSError where that, or to write there, cannot be."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder):
        pass


def take(export: Export, folder: Path, *, now: datetime) -> list[Path]:
    """Copy all files and the manifest, which comes last, to a prepared folder; those that are there already are left.
    Their paths.

    Raises NotReady and Gone where there is nothing to copy, Lost and DifferentError for a file that is not as it was
    written, and OSError of the folder.
    """
    names = [file.name for file in representation.show(export, now=now).files]
    return [_copied(signed_urls.kept(export, name, now=now), folder / name) for name in (*names, manifest.NAME)]


def _copied(kept: signed_urls.Kept, path: Path) -> Path:
    if path.is_file() and manifest.digest(path.read_bytes()) == kept.sha256:
        return path
    content = kept.read(Span(0, kept.size - 1, kept.size))
    if manifest.digest(content) != kept.sha256:
        raise DifferentError(f"{path.name} is not as it was written: order the export again.")
    beside = path.with_name(f".{path.name}.part")
    try:
        with beside.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
    return path
