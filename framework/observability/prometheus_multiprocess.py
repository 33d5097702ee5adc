"""The directory in which the processes of one web server share their Prometheus counters."""

import logging
import os
import shutil
import socket
from pathlib import Path

logger = logging.getLogger("tablewire.metrics")

ENV_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def use_shared_directory(folder: Path) -> None:
    """Have prometheus_client count into files of a folder in here that belongs to our parent, the web server.

    Call it before anything imports prometheus_client. A new server has a new folder, and those of servers that have
    ended are taken away. Where nothing can be written each process counts for itself.
    """
    if os.environ.get(ENV_VARIABLE):
        return
    host, parent = socket.gethostname(), os.getppid()
    ours = folder / f"{host}-{parent}-{process_start_time(parent)}"
    try:
        ours.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        logger.warning("the processes of this web server count each for itself: %s", error)
        return
    os.environ[ENV_VARIABLE] = str(ours)
    for other in folder.glob(f"{host}-*-*"):
        *_, process, moment = other.name.split("-")
        if moment != process_start_time(int(process)):
            shutil.rmtree(other, ignore_errors=True)


def process_start_time(process: int) -> str:
    """When a process was started, in the kernel's own count, which tells it from another of its number; "" if it runs
    no more, and "0" where the kernel does not say.
    """
    if not Path("/proc/self/stat").exists():
        return "0"
    try:
        said = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return ""
    # Its name, in brackets, may hold anything.
    return said.rpartition(")")[2].split()[19]
