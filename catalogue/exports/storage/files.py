"""The files of exports: written apart, then moved to their place, each under a name that is used once.

A file counts only when a row names it. What no row names is a leftover, which the sweeper removes.
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
    """Where the files are kept."""
    return storages["exports"]


def are_local() -> bool:
    """Whether they are kept in a folder of ours, and not in a bucket."""
    return isinstance(storage(), FileSystemStorage)


def name_of(export: Export, part: ExportPart) -> str:
    """What the file of one claim of a part is called. No other claim writes it, however late it comes."""
    return f"{part.pk}-{part.token}.{export.format}"


def path_of(export: Export, part: ExportPart) -> str:
    """Where the file of a written part is kept."""
    return f"{export.public_id}/{part.file}"


def path_of_manifest(export: Export, sha256: str) -> str:
    """Where a manifest is kept: two that differ have two places."""
    return f"{export.public_id}/manifest-{sha256}.json"


@dataclass
class Draft:
    """A file that is being written, and what is known of its content; without a path it has no name anywhere."""

    out: BinaryIO
    path: Path | None = None
    size: int = 0
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)

    def write(self, content: bytes | memoryview) -> None:
        """Add to it. Raises OSError, such as of a full disk."""
        self.out.write(content)
        self.digest.update(content)
        self.size += len(content)

    @property
    def sha256(self) -> str:
        """Of all that was written so far."""
        return self.digest.hexdigest()

    def keep(self, place: str) -> None:
        """Make it last at its place, over what was there. Raises OSError.

        A storage that is no file system is sent it in one piece.
        """
        self.out.flush()
        if self.path is None:
            self.out.seek(0)
            storage().save(place, File(self.out, name=place))
            return
        os.fsync(self.out.fileno())
        storage().save(place, Finished(self.out, name=str(self.path)))
        # The new name has to outlive a loss of power just as its content.
        sync(self.path.parent)


class Finished(File[bytes]):
    """A file that FileSystemStorage takes over by renaming it."""

    def temporary_file_path(self) -> str:
        """Where it lies."""
        return str(self.name)


@contextmanager
def draft(place: str) -> Iterator[Draft]:
    """A file to be written and then kept; what is not kept is gone afterwards. Raises OSError.

    It is written beside its place, where a process that is killed leaves it for the sweeper; for a bucket without any
    name, so that nothing is left.
    """
    if not are_local():
        with tempfile.TemporaryFile() as unnamed:
            yield Draft(out=unnamed)
        return
    path = Path(settings.EXPORTS_DIR, f"{place}.part")
    made = [folder for folder in (path.parent.parent, path.parent) if not folder.is_dir()]
    for folder in made:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync(folder.parent)
    try:
        with path.open("w+b") as out:
            path.chmod(0o600)
            yield Draft(out=out, path=path)
    finally:
        path.unlink(missing_ok=True)


def sync(folder: Path) -> None:
    """Make the names in a folder last. Raises OSError."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(held)
    finally:
        os.close(held)


def remove_all(folder: str, *, only: Iterable[str] | None = None) -> None:
    """Remove the folder of an export, by its public id, with all that is in it, or with these files if no more are."""
    try:
        remove(folder, names(folder) if only is None else only)
        if are_local():
            storage().delete(folder)
    except OSError as error:
        # A worker has just begun another file there, or the storage is broken: the sweeper comes again.
        logger.warning("The files of export %s are left for the next sweep: %s", folder, error)


def folders() -> list[str]:
    """The public ids of exports that have files. Of a bucket one call for a thousand of them. Raises OSError."""
    return listed("")[0]


def names(folder: str) -> list[str]:
    """The files in the folder of an export. Raises OSError."""
    return listed(folder)[1]


def listed(folder: str) -> tuple[list[str], list[str]]:
    """The folders and the files in a folder; none where there is no such folder. Raises OSError."""
    try:
        found: tuple[list[str], list[str]] = storage().listdir(folder)
    except FileNotFoundError:
        return [], []
    return found


def lost(export: Export, parts: Iterable[ExportPart]) -> list[ExportPart]:
    """The written parts whose files are not there, or not of their size.

    Of a bucket one call for a thousand files. Raises OSError.
    """
    found = sizes(export.public_id)
    return [part for part in parts if found.get(part.file) != part.bytes]


def sizes(folder: str) -> Mapping[str, int]:
    """The files in the folder of an export, and how many bytes each has. Raises OSError."""
    kept = storage()
    if isinstance(kept, FileSystemStorage):
        return {name: kept.size(f"{folder}/{name}") for name in names(folder)}
    told: Mapping[str, int] = kept.sizes(folder)  # type: ignore[attr-defined]  # catalogue.exports.storage.s3
    return told


def remove(folder: str, unwanted: Iterable[str]) -> None:
    """Remove files of a folder. Raises OSError."""
    for name in unwanted:
        storage().delete(f"{folder}/{name}")
