"""The proxy that is shipped, deploy/haproxy.cfg, before web servers of this machine."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contenders import HOST, Contender
from benchmarks.load import Load
from benchmarks.product import ROOT
from benchmarks.suites import Run
from config.dev_stack.processes import Child
from config.dev_stack.servers import free_port

FILE = ROOT / "deploy" / "haproxy.cfg"
PLAIN, COMPRESSED = "ours behind HAProxy", "ours behind HAProxy, gzip"


@dataclass(frozen=True, kw_only=True)
class ProxiedServer(Contender):
    """Ours as the proxy passes it on; its CPU and memory are those of the proxy alone."""

    def warm_up(self, load: Load, paths: Sequence[str]) -> None:
        """Do nothing: the server behind it is warm already, and our own load does not read bodies in chunks."""


def is_installed() -> bool:
    """Whether there is a HAProxy to start."""
    return shutil.which("haproxy") is not None


@contextmanager
def run_haproxy(servers: Sequence[str], *, log: Path, **more: str) -> Iterator[tuple[int, Child]]:
    """The port of the proxy before `servers` (host:port, at most four), and its process, which ends with the block.

    Each line of its log is a request in JSON. `more` is for other variables of the file.
    """
    port = free_port()
    variables = {f"WEB_{number}": server for number, server in enumerate(servers, 1)} | {
        "HTTP_BIND": f"{HOST}:{port}",
        "STATS_BIND": f"{HOST}:{free_port()}",
    }
    child = Child(
        name="haproxy", command=["haproxy", "-f", str(FILE)], env=os.environ | variables | more, cwd=ROOT, log=log
    )
    try:
        child.start()
        yield port, child
    finally:
        child.stop()


def proxy_variants(run: Run) -> dict[str, Mapping[str, str]]:
    """How ours is asked through it, by name, with which headers: not at all unless that is wanted and possible.

    What is compressed comes in chunks, which wrk alone reads.
    """
    if not run.arguments.proxy:
        return {}
    if not is_installed():
        run.settings["proxy"] = "HAProxy is not installed, left out"
        return {}
    asked: dict[str, Mapping[str, str]] = {PLAIN: run.product.headers}
    if run.load.uses_wrk:
        asked[COMPRESSED] = {**run.product.headers, "Accept-Encoding": "gzip"}
    return asked


@contextmanager
def contenders(run: Run) -> Iterator[list[Contender]]:
    """Ours behind the proxy, in the ways that are wanted."""
    product, asked = run.product, proxy_variants(run)
    if not asked:
        yield []
        return
    log = product.state_dir / "logs" / "haproxy.log"
    with run_haproxy([f"{HOST}:{product.port}"], log=log) as (port, child):
        yield [
            ProxiedServer(
                name=name,
                port=port,
                database_url=product.database_url,
                headers=headers,
                settings={"server": "deploy/haproxy.cfg before ours; CPU and memory are those of HAProxy alone"},
                child=child,
            )
            for name, headers in asked.items()
        ]
