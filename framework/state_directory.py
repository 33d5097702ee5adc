"""The state directory: its lock, and the files that the next run and other commands read."""

import errno
import fcntl
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# The file by which a directory is recognised as ours, and the names that may be there before it.
RECORD = "stack.json"
BEFORE_RECORD = {"lock", "logs", "rejects", "secret_key", f"{RECORD}.draft"}


# Of a file system that takes no more, rather than of a program that does something wrong.
DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG})
# SQLSTATE disk_full.
POSTGRES_DISK_FULL = "53100"


class StackError(Exception):
    """The embedded stack cannot run; the message says why and what to do."""


def find_disk_error(error: BaseException | None) -> str | None:
    """Return what a full or failed disk said, if it is the cause of the error, also PostgreSQL's; otherwise None."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in DISK_ERRORS:
            return error.strerror
        if getattr(error, "sqlstate", None) == POSTGRES_DISK_FULL:
            return str(error).strip().splitlines()[0]
        error = error.__cause__ or error.__context__
    return None


def up_record_path(state_dir: Path) -> Path:
    """The record of the `manage.py up` that runs on this directory; it exists only while that one runs."""
    return state_dir / "up.json"


def read_up_record(state_dir: Path) -> dict[str, Any] | None:
    """Read `up_file`; None when it is absent, unreadable or not a JSON object."""
    return read_json(up_record_path(state_dir))


def read_json(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; None when the file is absent, unreadable or incomplete."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def write_private(path: Path, content: str | bytes) -> None:
    """Write a file atomically, readable by its owner alone."""
    draft = path.with_name(f"{path.name}.draft")
    # A draft that a killed run left may have other permissions.
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600, exist_ok=False)
    try:
        with draft.open("wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        draft.unlink()
        raise
    draft.replace(path)


def secret_key(state_dir: Path) -> str:
    """The directory's SECRET_KEY, generated on the first call."""
    path = state_dir / "secret_key"
    if not path.exists():
        write_private(path, secrets.token_urlsafe(48))
    return path.read_text(encoding="utf-8")


@contextmanager
def lock_state_directory(state_dir: Path) -> Iterator[None]:
    """Create the directory (0700) if it is missing and lock it for the block.

    Raises StackError when it cannot be created, has files that are not ours, or is locked by another process. The
    kernel releases the lock of a process that is killed.
    """
    try:
        _create(state_dir)
    except OSError as error:
        raise StackError(
            f"{state_dir} cannot be the state directory ({error.strerror}): choose another one with --state-dir."
        ) from error
    with (state_dir / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            owner = file.read().strip() or "unknown"
            raise StackError(
                f"The state directory {state_dir} is in use by another `manage.py up` (process {owner}):"
                " stop that one, or give this one a directory of its own with --state-dir."
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _create(state_dir: Path) -> None:
    """Create the directory; an existing one must be ours before its permissions are changed."""
    if state_dir.exists() and not (state_dir / RECORD).exists():
        unknown = {entry.name for entry in state_dir.iterdir()} - BEFORE_RECORD
        if unknown:
            raise StackError(
                f"The directory {state_dir} holds something else ({min(unknown)}) and is left alone:"
                " choose an empty or a new one with --state-dir."
            )
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    state_dir.chmod(0o700)
