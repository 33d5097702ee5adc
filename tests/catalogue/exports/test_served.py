"""Exports over real HTTP: with readers that stall, a broker that is away and a worker that is killed."""

import hashlib
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import Settings

from catalogue.exports.downloads import signed_urls
from catalogue.exports.storage import files
from catalogue.models import Export, ExportPart, Restaurant
from catalogue.tasks import clean_up_exports, enqueue_export_step
from config.dev_stack.processes import Child
from payments.devchain.wallets import Wallet as Key
from tests.catalogue import builders
from tests.catalogue.exports import export_builders
from tests.catalogue.exports.export_builders import EXPORTS, RESTAURANTS
from tests.payments.signing import client_of
from tests.support.live_server import THREADS, served, working
from tests.support.live_stack import eventually

pytestmark = [pytest.mark.stack, pytest.mark.django_db(transaction=True)]

# More than the sockets of a connection hold between them.
LARGE = 16_000_000


@pytest.fixture(autouse=True)
def folder(settings: Settings, tmp_path: Path) -> Path:
    return export_builders.keep_in(settings, tmp_path / "exports")


@contextmanager
def killable(folder: Path, log: Path) -> Iterator[Child]:
    """A worker that writes exports; killed at the end."""
    with working(log, queue="dedicated", EXPORTS_DIR=str(folder)) as child:
        try:
            yield child
        finally:
            kill(child)


def kill(child: Child) -> None:
    """SIGKILL for the worker and its processes, which leaves them no time for a last word."""
    if child.is_running():
        worker = psutil.Process(child.pid)
        for process in [*worker.children(recursive=True), worker]:
            process.kill()
    child.stop()


def test_an_accepted_export_survives_a_broker_that_is_away_and_is_fetched_in_pieces(
    wallets: Mapping[str, Key], folder: Path, tmp_path: Path
) -> None:
    for _ in range(20):
        builders.restaurant()
    export_builders.grant_free_plan(wallets["enterprise"])
    session = client_of(wallets["enterprise"]).defaults["HTTP_AUTHORIZATION"]
    log = tmp_path / "web.log"
    with (
        served(log, BROKER_URL="redis://127.0.0.1:1", EXPORTS_DIR=str(folder), PUBLIC_BASE_URL="") as base_url,
        httpx.Client(base_url=base_url, headers={"Authorization": session}, timeout=30) as caller,
    ):
        answer = caller.post(EXPORTS, json=RESTAURANTS)
        assert answer.status_code == 202, answer.text
        export = Export.objects.get()
        export_builders.run_to_end(export)
        (file,) = caller.get(f"{EXPORTS}/{export.public_id}").json()["files"]
        path = httpx.URL(file["url"]).raw_path.decode()
        head = httpx.head(base_url + path)
        assert (head.status_code, head.headers["Content-Length"], head.content) == (200, str(file["bytes"]), b"")
        first = httpx.get(base_url + path, headers={"Range": "bytes=0-99"})
        rest = httpx.get(base_url + path, headers={"Range": "bytes=100-", "If-Range": first.headers["ETag"]})
        assert (first.status_code, rest.status_code) == (206, 206)
        assert hashlib.sha256(first.content + rest.content).hexdigest() == file["sha256"]
    assert "task catalogue.tasks.write_export was not enqueued" in log.read_text()


def test_readers_that_stall_keep_no_one_else_waiting(folder: Path, tmp_path: Path) -> None:
    builders.restaurant()
    export = export_builders.create_finished()
    part = export.parts.get()
    (folder / files.path_of(export, part)).write_bytes(os.urandom(LARGE))
    export.parts.update(bytes=LARGE)
    link = httpx.URL(signed_urls.sign_url(export, "restaurants-00001.jsonl.gz", now=timezone.now())).raw_path
    with served(tmp_path / "web.log", EXPORTS_DIR=str(folder)) as base_url, ExitStack() as stalled:
        for _ in range(2 * THREADS):
            reader = stalled.enter_context(socket.socket())
            begin_to_read(reader, httpx.URL(base_url), link)
            assert reader.recv(12) == b"HTTP/1.1 200"
        assert httpx.get(f"{base_url}/v1/markets", timeout=10).status_code == 200


def begin_to_read(reader: socket.socket, server: httpx.URL, path: bytes) -> None:
    """Ask for a file, with room for next to nothing of it."""
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.settimeout(10)
    reader.connect((server.host, server.port))
    reader.sendall(b"GET %b HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" % path)


def test_a_worker_that_is_killed_in_the_middle_of_a_part_changes_nothing_of_the_result(
    folder: Path, tmp_path: Path
) -> None:
    for _ in range(40):
        builders.listed(builders.restaurant())
    undisturbed = export_builders.create_finished(rows_per_part=10)
    expected = export_builders.comparable(export_builders.read_manifest(undisturbed))
    Export.objects.all().delete()
    clean_up_exports()
    assert export_builders.list_stored(folder) == set()

    export = export_builders.create_running(rows_per_part=10)
    export_builders.run_step(export, max_step_s=0)
    with killable(folder, tmp_path / "first.log") as worker, transaction.atomic():
        # Its SELECT waits for us while its part is taken and its file begun, however slow the machine is today.
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            cursor.execute(f"LOCK TABLE {Restaurant._meta.db_table} IN ACCESS EXCLUSIVE MODE")
        enqueue_export_step(export)
        assert eventually(lambda: taken(folder)), (tmp_path / "first.log").read_text()[-2000:]
        kill(worker)
    held = ExportPart.objects.get(state="claimed")
    assert (held.seq, held.attempts) == (2, 1)
    assert any(name.endswith(".part") for name in export_builders.list_stored(folder))

    # A minute later.
    ExportPart.objects.filter(pk=held.pk).update(lease_until=builders.NOW.replace(year=2020))
    with killable(folder, tmp_path / "second.log"):
        clean_up_exports()
        assert eventually(lambda: ended(export)), (tmp_path / "second.log").read_text()[-2000:]
    export.refresh_from_db()
    assert export.status == "succeeded", export.error
    assert export_builders.comparable(export_builders.read_manifest(export)) == expected
    held.refresh_from_db()
    assert (held.state, held.token) == ("done", 2)
    clean_up_exports()
    assert len(export_builders.list_stored(folder)) == 5


def taken(folder: Path) -> bool:
    """Whether a worker has begun the file of its part."""
    return any(name.endswith(".part") for name in export_builders.list_stored(folder))


def ended(export: Export) -> bool:
    """Whether the export is done with."""
    return not Export.objects.unfinished().filter(pk=export.pk).exists()
