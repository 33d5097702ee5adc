"""What is in the folder of a backup: a dump of the database, the stored files, and a manifest that describes both."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage, storages
from django.utils.crypto import salted_hmac

FORMAT = 1
MANIFEST = "manifest.json"
DUMP = "database.dump"
FILES = "files"
# The suffix of what is not complete yet.
PARTIAL = ".partial"
# Storages whose files belong to rows. Where one is a bucket, its files are not part of a backup.
STORAGES = ("exports", "photos")

# Shows what is being done: a table, or a file.
Report = Callable[[str], object]


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """What a backup contains: the number of rows of each table, and the SHA-256 of the dump and of each file."""

    version: str
    created_at: str
    server_version: str
    migrations: list[tuple[str, str]]
    extensions: list[str]
    tables: dict[str, int]
    dump: str
    files: dict[str, str]
    secret_key_hmac: str
    format: int = FORMAT


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a backup. Raises OSError, KeyError, TypeError or ValueError where it has none."""
    fields = json.loads((folder / MANIFEST).read_bytes())
    if fields["format"] != FORMAT:
        raise ValueError(f"it has format {fields['format']}, and this version reads {FORMAT}")
    return Manifest(**fields | {"migrations": [(app, name) for app, name in fields["migrations"]]})


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def copy_file(source: Path, target: Path) -> None:
    """Copy a file to the disk, readable by its owner alone; a file at `target` is overwritten."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(target, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    with source.open("rb") as reader, os.fdopen(descriptor, "wb") as writer:
        shutil.copyfileobj(reader, writer, 1 << 20)
        writer.flush()
        os.fsync(writer.fileno())


def storage_folders() -> dict[str, Path]:
    """The folders of the storages that keep their files in one."""
    found = {name: storages[name] for name in STORAGES}
    return {name: Path(each.location) for name, each in found.items() if isinstance(each, FileSystemStorage)}


def secret_key_hmac(created_at: str) -> str:
    """A value by which two installations can compare their SECRET_KEY."""
    return salted_hmac("tablewire.backup", created_at, secret=settings.SECRET_KEY, algorithm="sha256").hexdigest()
