"""The transactions of a development chain on disk: a line for each, written for good before anybody is told."""

import fcntl
import os
from pathlib import Path


class Journal:
    """A file of lines `<Unix seconds> <raw transaction in hexadecimal>`, in the order in which they were accepted.

    One process at a time has it: opening waits until the one before has gone.
    """

    def __init__(self, path: Path) -> None:
        path.touch(mode=0o600)
        self._file = path.open("r+b", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        _flush(path.parent)
        self.entries = self._read()

    def append(self, timestamp: int, raw: bytes) -> None:
        """Write one more and wait for the disk. Raises OSError, and then the file is as it was."""
        end = self._file.seek(0, os.SEEK_END)
        line = f"{timestamp} {raw.hex()}\n".encode()
        try:
            if self._file.write(line) != len(line):
                raise OSError("the disk took only a part of the transaction")
            os.fsync(self._file.fileno())
        except OSError:
            self._file.truncate(end)
            raise

    def close(self) -> None:
        """Let the next one have it."""
        self._file.close()

    def _read(self) -> list[tuple[int, bytes]]:
        """What is there. A last line without an end was never acknowledged: it is cut off."""
        content = self._file.read()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        lines = (line.split(b" ") for line in whole.splitlines())
        return [(int(timestamp), bytes.fromhex(raw.decode())) for timestamp, raw in lines]


def _flush(directory: Path) -> None:
    """Make sure that a new file is found again after the machine has crashed."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
