"""deploy/pgbouncer.ini as it is shipped, before a PostgreSQL that a test names."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import settings

from config.dev_stack.processes import Child, last_lines
from config.dev_stack.servers import free_port
from tests.support.live_stack import eventually

FILE = Path(settings.BASE_DIR) / "deploy" / "pgbouncer.ini"
MINIMAL = (1, 22)


def version() -> tuple[int, ...]:
    """That of the PgBouncer of this machine; nothing where there is none."""
    program = shutil.which("pgbouncer")
    if program is None:
        return ()
    output = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"PgBouncer (\d+)\.(\d+)", output)
    return tuple(map(int, found.groups())) if found else ()


def missing() -> str:
    """What has to be installed first; "" when nothing has."""
    if version() >= MINIMAL:
        return ""
    return (
        f"PgBouncer {'.'.join(map(str, MINIMAL))} or newer is not installed (that of Debian 13 is; Debian 12 has 1.18)"
    )


def differing(database_url: str, folder: Path, **more: object) -> Path:
    """The shipped file with another database behind it, and what else differs here (of two sections one counts)."""
    at = urlsplit(database_url)
    users = folder / "userlist.txt"
    users.write_text(f'"{at.username}" "{at.password}"\n')
    text = FILE.read_text()
    for old, new in (
        ("host=postgres", at.hostname),
        ("port=5432", at.port or 5432),
        ("dbname=tablewire", at.path[1:]),
    ):
        assert text.count(f" {old} ") == 1
        text = text.replace(f" {old} ", f" {old.partition('=')[0]}={new} ")
    for name, value in {"auth_file": users, "unix_socket_dir": "", **more}.items():
        line = f"{name} = {value}"
        text, found = re.subn(rf"^{name} = .*$", line, text, flags=re.MULTILINE)
        text = text if found else f"{text}{line}\n"
    file = folder / "pgbouncer.ini"
    file.write_text(text)
    for each in (users, file):
        each.chmod(0o644)
    return file


@contextmanager
def bouncing(
    database_url: str, folder: Path, *, listen: str = "127.0.0.1", within: Sequence[str] = (), **more: object
) -> Iterator[str]:
    """The address of a PgBouncer before this database, which ends with the block. `within` starts its command."""
    if reason := missing():
        pytest.skip(reason)
    folder.mkdir(exist_ok=True)
    for parent in (folder, *folder.parents[:2]):
        parent.chmod(parent.stat().st_mode | 0o055)
    port = free_port()
    command = ["pgbouncer", *(["-u", "nobody"] if os.geteuid() == 0 else [])]
    file = differing(database_url, folder, listen_port=port, listen_addr=listen, **more)
    log = folder / "pgbouncer.log"
    child = Child(name="pgbouncer", command=[*within, *command, str(file)], env={**os.environ}, cwd=folder, log=log)
    at = urlsplit(database_url)
    url = at._replace(netloc=f"{at.username}:{at.password}@{listen}:{port}", path="/tablewire").geturl()
    child.start()
    try:
        if not within:
            assert eventually(lambda: answers(url), within_s=10), last_lines(log)
        yield url
    finally:
        child.stop()


def answers(url: str) -> bool:
    """Whether it gives a connection."""
    try:
        with psycopg.connect(url, connect_timeout=2) as database:
            database.execute("SELECT 1")
    except psycopg.OperationalError:
        return False
    return True
