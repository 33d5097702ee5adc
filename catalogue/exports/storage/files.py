"""The files of exports: written as drafts, then moved to their path, under a name that is never reused.

A file counts only when a row names it; the cleanup task deletes all others.
"""

import hashlib
import logging
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from django.conf import settings
from django.core.files import File
from django.core.files.storage import FileSystemStorage, Storage, storages

from catalogue.models import Export, ExportPart

logger = logging.getLogger(__name__)


def storage() -> Storage:
    return storages["exports"]


def is_local() -> bool:
    """Whether files are stored in a local folder, not in a bucket."""
    return isinstance(storage(), FileSystemStorage)


def name_file(export: Export, part: ExportPart) -> str:
    """Return the file name of one claim of a part. No other claim writes to it, however late."""
    return f"{part.pk}-{part.token}.{export.format}"


def path_of(export: Export, part: ExportPart) -> str:
    return f"{export.public_id}/{part.file}"


def path_of_manifest(export: Export, sha256: str) -> str:
    """Return the path of a manifest, which depends on its content."""
    return f"{export.public_id}/manifest-{sha256}.json"


@dataclass
class Draft:
    """A file that is being written, with its size and checksum so far; without a path it is an unnamed file."""

    out: BinaryIO
    path: Path | None = None
    size: int = 0
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def write(self, content: bytes | memoryview) -> None:
        """Append content. Raises OSError, such as for a full disk."""
        self.out.write(content)
        self.digest.update(content)
        self.size += len(content)

    @property
    def sha256(self) -> str:
        return self.digest.hexdigest()

    def publish(self, path: str) -> None:
        """Move the draft to its path durably, or upload it in one piece. Raises OSError."""
        self.out.flush()
        if self.path is None:
            self.out.seek(0)
            storage().save(path, File(self.out, name=path))
            return
        os.fsync(self.out.fileno())
        storage().save(path, RenamedFile(self.out, name=str(self.path)))
        # The new name has to survive a power loss just as the content does.
        fsync_folder(self.path.parent)


class RenamedFile(File[bytes]):
    """A file that FileSystemStorage stores by renaming it."""

    def temporary_file_path(self) -> str:
        return str(self.name)


@contextmanager
def open_draft(path: str) -> Iterator[Draft]:
    """Open a draft to write and publish; an unpublished one is deleted. Raises OSError.

    A local draft lies beside its path; the cleanup task deletes it if the process is killed. A draft for a bucket has
    no name, so a killed process leaves nothing.
    """
    if not is_local():
        with tempfile.TemporaryFile() as unnamed:
            yield Draft(out=unnamed)
        return
    file = Path(settings.EXPORTS_DIR, f"{path}.part")
    missing = [folder for folder in (file.parent.parent, file.parent) if not folder.is_dir()]
    for folder in missing:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        fsync_folder(folder.parent)
    try:
        with file.open("w+b") as out:
            file.chmod(0o600)
            yield Draft(out=out, path=file)
    finally:
        file.unlink(missing_ok=True)


def fsync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_all(folder: str, *, only: Iterable[str] | None = None) -> None:
    """Delete the folder of an export with all its files, or these files and the folder if it is empty then."""
    try:
        remove(folder, list_names(folder) if only is None else only)
        if is_local():
            storage().delete(folder)
    except OSError as error:
        # A worker has just created another file there, or the storage is unavailable.
        logger.warning("The files of export %s could not be deleted; the next cleanup retries it: %s", folder, error)


def list_folders() -> list[str]:
    """Return the public ids of exports that have files; for a bucket one call per thousand. Raises OSError."""
    return list_folder("")[0]


def list_names(folder: str) -> list[str]:
    """Return the file names in the folder of an export. Raises OSError."""
    return list_folder(folder)[1]


def list_folder(folder: str) -> tuple[list[str], list[str]]:
    """Return folders and files in a folder, none if it does not exist. Raises OSError."""
    try:
        found: tuple[list[str], list[str]] = storage().listdir(folder)
    except FileNotFoundError:
        return [], []
    return found


def list_lost(export: Export, parts: Iterable[ExportPart]) -> list[ExportPart]:
    """Return the written parts whose files are missing or have another size.

    For a bucket one call per thousand files. Raises OSError.
    """
    found = list_sizes(export.public_id)
    return [part for part in parts if found.get(part.file) != part.bytes]


def list_sizes(folder: str) -> Mapping[str, int]:
    """Return the size in bytes of each file of an export. Raises OSError."""
    current = storage()
    if isinstance(current, FileSystemStorage):
        return {name: current.size(f"{folder}/{name}") for name in list_names(folder)}
    sizes: Mapping[str, int] = current.list_sizes(folder)  # type: ignore[attr-defined]  # catalogue.exports.storage.s3
    return sizes


def remove(folder: str, filenames: Iterable[str]) -> None:
    """Delete files of a folder. Raises OSError."""
    for name in filenames:
        storage().delete(f"{folder}/{name}")
