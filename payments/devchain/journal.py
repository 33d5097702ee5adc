"""The transactions of a development chain on disk: one line each, synced before it is acknowledged."""

import fcntl
import os
from pathlib import Path


class Journal:
    """A file of lines `<Unix seconds> <raw transaction in hexadecimal>`, in the order of acceptance.

    Opening it locks it against other processes, and waits until the previous one has closed it.
    """

    def __init__(self, path: Path) -> None:
        path.touch(mode=0o600)
        self._file = path.open("r+b", buffering=0)
        fcntl.flock(self._file, fcntl.LOCK_EX)
        # Sync the directory, so that a new file survives a crash of the machine.
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
        content = self._file.read()
        # A last line without a line break was never acknowledged.
        complete = content[: content.rfind(b"\n") + 1]
        if len(complete) < len(content):
            self._file.truncate(len(complete))
        lines = (line.split(b" ") for line in complete.splitlines())
        self.entries = [(int(timestamp), bytes.fromhex(raw.decode())) for timestamp, raw in lines]

    def append(self, timestamp: int, raw: bytes) -> None:
        """Write one more line and sync it. Raises OSError, and then the file is as before."""
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
        self._file.close()
