"""Copies the files of a finished export into a folder, under their public names."""

import os
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile

from catalogue.exports.downloads import signed_urls
from catalogue.exports.downloads.byte_ranges import ByteRange
from catalogue.exports.requests import representation
from catalogue.exports.storage import manifest
from catalogue.models import Export
from framework.errors import ServiceUnavailable


class ChecksumMismatch(ServiceUnavailable):
    """The content of a file differs from its recorded checksum."""


def prepare_folder(folder: Path) -> None:
    """Create the folder if needed and check that it is writable. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryFile(dir=folder):
        pass


def copy_files(export: Export, folder: Path, *, now: datetime) -> list[Path]:
    """Copy all missing files and then the manifest to a prepared folder; return the paths of all.

    Raises FilesNotReady, FilesGone, FileLost, ChecksumMismatch, and OSError of the folder.
    """
    names = [file.name for file in representation.represent_export(export, now=now).files]
    return [
        _copy_file(signed_urls.find_file(export, name, now=now), folder / name) for name in (*names, manifest.NAME)
    ]


def _copy_file(stored: signed_urls.StoredFile, path: Path) -> Path:
    if path.is_file() and manifest.digest(path.read_bytes()) == stored.sha256:
        return path
    content = stored.read(ByteRange(0, stored.size - 1, stored.size))
    if manifest.digest(content) != stored.sha256:
        raise ChecksumMismatch(f"{path.name} has another checksum than when it was written: order the export again.")
    draft = path.with_name(f".{path.name}.part")
    try:
        with draft.open("wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path
