"""The directory in which the processes of one web server share their Prometheus counters."""

import logging
import os
import shutil
import socket
from pathlib import Path

logger = logging.getLogger("tablewire.metrics")

ENV_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def use_shared_directory(folder: Path) -> None:
    """Make prometheus_client count in a subdirectory of `folder` that belongs to our parent, the web server.

    Call it before prometheus_client is imported. Directories of servers that have ended are deleted. If the directory
    cannot be written, each process counts for itself.
    """
    if os.environ.get(ENV_VARIABLE):
        return
    host, parent = socket.gethostname(), os.getppid()
    directory = folder / f"{host}-{parent}-{process_start_time(parent)}"
    try:
        directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        logger.warning("the processes of this web server count each for itself: %s", error)
        return
    os.environ[ENV_VARIABLE] = str(directory)
    for other in folder.glob(f"{host}-*-*"):
        *_, process, start_time = other.name.split("-")
        if start_time != process_start_time(int(process)):
            shutil.rmtree(other, ignore_errors=True)


def process_start_time(process: int) -> str:
    """The start time of a process in clock ticks, which distinguishes reused process ids.

    "" if it does not run, "0" on systems without /proc.
    """
    if not Path("/proc/self/stat").exists():
        return "0"
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    # The name, in parentheses, may contain spaces.
    return stat.rpartition(")")[2].split()[19]
