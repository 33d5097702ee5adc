"""Backups: everything comes back, proven; nothing is half done, whatever is killed."""

import json
import os
import signal
import subprocess
import sys
import zipfile
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

from accounts.models import Account, User, Venue
from catalogue.models import Export, ExportPart, Review
from catalogue.models.reviews import ReviewChange
from config.backup import dump, format, restore
from orders.models import Order
from tests.catalogue import builders as places
from tests.catalogue.exports import export_builders
from tests.support import builders
from tests.support.db_cleanup import empty
from tests.support.live_server import database_url
from tests.support.live_stack import eventually

AT = datetime(2031, 5, 3, 12, tzinfo=UTC)
HOURS = """
    INSERT INTO accounts_apihour (venue_id, hour, calls, refused, broken)
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
        for name in format.STORED
    }


def put(tmp_path: Path, name: str, content: bytes) -> Path:
    """A file of the installation."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def run(*words: str) -> str:
    """What a command says."""
    said = StringIO()
    call_command(*words, stdout=said, stderr=said)
    return said.getvalue()


def everything() -> dict[str, Any]:
    """All rows, by their tables, and all counters."""
    with connection.cursor() as cursor:
        found: dict[str, Any] = {}
        for table in format.tables(cursor):
            cursor.execute(f'SELECT t::text FROM "{table.name}" AS t ORDER BY 1')  # noqa: S608  # our own tables
            found[table.name] = cursor.fetchall()
        for name in format.sequences(cursor):
            cursor.execute(f'SELECT last_value, is_called FROM "{name}"')  # noqa: S608  # our own
            found[name] = cursor.fetchone()
        cursor.execute("SELECT tgrelid::regclass::text, tgname, tgenabled FROM pg_trigger ORDER BY 1, 2")
        found["triggers"] = cursor.fetchall()
    return found


def filled(tmp_path: Path) -> None:
    """An installation with something of everything that is hard to write down."""
    venue = builders.venue('Osteria\tdi \\N\n"Ada" ✓ 🍋')
    builders.menu(venue)
    builders.order(venue, status="completed")
    builders.reservation(venue, status="confirmed", special_requests="a\\b\r\n\tc")
    builders.key(venue)
    place = places.restaurant()
    places.review(place, "So good.\n\\.\nSo salty.")
    places.photo(place)
    User.objects.create_user("ada@example.com", "a pass of several words")
    put(tmp_path, "exports/one/part-0.jsonl.gz", os.urandom(3_000_000))
    put(tmp_path, "photos/p/ä photo.jpg", b"\x00\n\xff")


@pytest.mark.django_db(transaction=True)
def test_what_was_backed_up_comes_back_row_for_row_and_file_for_file(tmp_path: Path) -> None:
    filled(tmp_path)
    was, exported = everything(), (tmp_path / "exports/one/part-0.jsonl.gz").read_bytes()
    said = run("backup", str(tmp_path / "a backup.zip"))
    assert "  orders_order: 1 rows\n" in said
    assert (tmp_path / "a backup.zip").stat().st_mode & 0o777 == 0o600
    empty()
    (tmp_path / "exports/one/part-0.jsonl.gz").unlink()
    (tmp_path / "photos/p/ä photo.jpg").write_bytes(b"something else")
    said = run("restore", str(tmp_path / "a backup.zip"))
    assert "every one as the backup says" in said
    assert "SECRET_KEY" not in said
    assert everything() == was
    assert {state for _, _, state in was["triggers"]} == {"O"}
    assert (tmp_path / "exports/one/part-0.jsonl.gz").read_bytes() == exported
    assert (tmp_path / "photos/p/ä photo.jpg").read_bytes() == b"\x00\n\xff"
    # What is written from now on is counted and numbered as if nothing had been.
    builders.order(Order.objects.get().venue)
    assert sorted(Order.objects.values_list("number", flat=True)) == [1, 2]


@pytest.mark.django_db(transaction=True)
def test_a_backup_is_of_one_moment_whatever_is_written_meanwhile(tmp_path: Path) -> None:
    venue = builders.venue()
    builders.order(venue)

    def meanwhile(line: str) -> None:
        if line.startswith("  accounts_account:"):
            writer = Thread(target=order_of_another, args=[venue])
            writer.start()
            writer.join()

    made = dump.write(tmp_path / "b.zip", now=AT, say=meanwhile)
    assert (Order.objects.count(), made.tables["orders_order"].rows, made.tables["accounts_event"].rows) == (2, 1, 1)


def order_of_another(venue: Venue) -> None:
    """An order by a connection of its own."""
    try:
        builders.order(venue)
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_a_backup_never_takes_the_name_of_a_file_that_is_there(tmp_path: Path) -> None:
    there = put(tmp_path, "b.zip", b"yesterday's")
    with pytest.raises(CommandError, match="is there already"):
        run("backup", str(there))
    assert there.read_bytes() == b"yesterday's"
    with pytest.raises(CommandError, match="No such file or directory"):
        run("backup", str(tmp_path / "nowhere" / "b.zip"))


@pytest.mark.django_db(transaction=True)
def test_a_database_in_use_is_replaced_only_when_told(tmp_path: Path) -> None:
    builders.venue("Before")
    run("backup", str(tmp_path / "b.zip"))
    Account.objects.update(name="After")
    with pytest.raises(CommandError, match=r"^This database is in use: accounts_account has rows\."):
        run("restore", str(tmp_path / "b.zip"))
    assert Account.objects.get().name == "After"
    run("restore", str(tmp_path / "b.zip"), "--replace")
    assert Account.objects.get().name == "Before"


def altered(path: Path, member: str, content: bytes) -> Path:
    """A copy of a backup in which a member is another, well-formed as a zip."""
    made = path.with_name("altered.zip")
    with zipfile.ZipFile(path) as kept, zipfile.ZipFile(made, "w") as copy:
        for name in kept.namelist():
            copy.writestr(name, content if name == member else kept.read(name))
    return made


@pytest.mark.django_db(transaction=True)
def test_a_backup_that_was_changed_cut_short_or_is_none_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    builders.venue("Osteria")
    put(tmp_path, "photos/p.jpg", b"a photo")
    path = tmp_path / "b.zip"
    run("backup", str(path))
    put(tmp_path, "photos/p.jpg", b"another")
    with zipfile.ZipFile(path) as kept:
        accounts = kept.read("tables/accounts_account.copy")
        said = json.loads(kept.read("manifest.json"))
    was = everything()
    lost = said | {"migrations": said["migrations"][:-1]}
    outside = said | {"files": {"photos/../../p.jpg": said["files"]["photos/p.jpg"]}}
    elsewhere = said | {"files": {"letters/p.jpg": said["files"]["photos/p.jpg"]}}
    cases = {
        "accounts_account came to 1 rows of hash": altered_as(
            path, "tables/accounts_account.copy", accounts.replace(b"Osteria", b"Usteria")
        ),
        r"case.zip is damaged: (?s:.*)foreign key constraint": altered_as(path, "tables/accounts_account.copy", b""),
        "photos/p.jpg is not what the manifest says": altered_as(path, "files/photos/p.jpg", b"a phot0"),
        "not a backup that this version reads": altered_as(path, "manifest.json", b"{}"),
        "it is of format 2, and this reads 1": altered_as(
            path, "manifest.json", json.dumps(said | {"format": 2}).encode()
        ),
        r"this database has and the backup has not .* \(1 differences\)": altered_as(
            path, "manifest.json", json.dumps(lost).encode()
        ),
        r"lacks files/photos/\.\./\.\./p\.jpg": altered_as(path, "manifest.json", json.dumps(outside).encode()),
        r"lacks files/letters/p\.jpg": altered_as(path, "manifest.json", json.dumps(elsewhere).encode()),
        "is not a whole backup": path.read_bytes()[:-100],
    }
    for words, content in cases.items():
        with pytest.raises(CommandError, match=words):
            run("restore", str(put(tmp_path, "case.zip", content)), "--replace")
        assert everything() == was, words
    assert (tmp_path / "photos/p.jpg").read_bytes() == b"another"


def altered_as(path: Path, member: str, content: bytes) -> bytes:
    """What a backup would be with another content of a member."""
    return altered(path, member, content).read_bytes()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["photos/../../out.jpg", "letters/out.jpg", "/out.jpg", "photos"])
def test_no_file_of_a_backup_is_written_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    put(tmp_path, "photos/p.jpg", b"a photo")
    path = tmp_path / "b.zip"
    run("backup", str(path))
    with zipfile.ZipFile(path) as kept, zipfile.ZipFile(tmp_path / "evil.zip", "w") as evil:
        said = json.loads(kept.read("manifest.json"))
        said["files"] = {name: said["files"]["photos/p.jpg"]}
        for member in kept.namelist():
            evil.writestr(member, json.dumps(said) if member == "manifest.json" else kept.read(member))
        evil.writestr(f"files/{name}", b"a photo")
    there = sorted(tmp_path.parent.rglob("out.jpg"))
    with pytest.raises(CommandError, match="has no place here"):
        run("restore", str(tmp_path / "evil.zip"), "--replace")
    assert sorted(tmp_path.parent.rglob("out.jpg")) == there == []


@pytest.mark.django_db(transaction=True)
def test_two_restores_at_once_are_one_and_another_key_is_told(tmp_path: Path, settings: LazySettings) -> None:
    builders.venue()
    run("backup", str(tmp_path / "b.zip"))
    settings.SECRET_KEY = "another"
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [restore.LOCK])
        with pytest.raises(CommandError, match="Somebody else is restoring"):
            run("restore", str(tmp_path / "b.zip"), "--replace")
    with psycopg.connect(database_url()) as other, connection.cursor() as cursor:
        other.execute("SELECT FROM accounts_user")
        cursor.execute("SET lock_timeout = 50")
        with pytest.raises(CommandError, match="Somebody is at work in this database"):
            run("restore", str(tmp_path / "b.zip"), "--replace")
        cursor.execute("RESET lock_timeout")
    assert "SECRET_KEY is not the one of the backup" in run("restore", str(tmp_path / "b.zip"), "--replace")


@pytest.mark.django_db(transaction=True)
def test_numbers_of_transactions_do_not_come_along(tmp_path: Path) -> None:
    review = places.review(places.restaurant())
    Review.objects.filter(pk=review.pk).update(stars=1)
    assert ReviewChange.objects.count() == 1
    export = export_builders.queued()
    Export.objects.update(status="running")
    ExportPart.objects.create(export=export, seq=0, horizon=2**40)
    run("backup", str(tmp_path / "b.zip"))
    run("restore", str(tmp_path / "b.zip"), "--replace")
    assert ReviewChange.objects.count() == 0
    assert ExportPart.objects.get().horizon is None


def started(*words: str) -> subprocess.Popen[bytes]:
    """A command of ours on the database of this test, in a process that can be killed."""
    env = os.environ | {"DATABASE_URL": database_url()}
    command = [sys.executable, "manage.py", *words]
    return subprocess.Popen(
        command, cwd=configuration.BASE_DIR, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def copied_rows(kind: str) -> int:
    """How many rows of the long table some connection has copied so far."""
    with psycopg.connect(database_url(), autocommit=True) as other:
        found = other.execute(
            "SELECT tuples_processed FROM pg_stat_progress_copy WHERE command = %s AND tuples_processed > 2000",
            [kind],
        ).fetchone()
    return found[0] if found else 0


@pytest.mark.chaos
@pytest.mark.django_db(transaction=True)
def test_a_kill_leaves_no_half_backup_and_no_half_restore(tmp_path: Path) -> None:
    venue = builders.venue("Before")
    with connection.cursor() as cursor:
        cursor.execute(HOURS, [venue.pk, 300_000])
    path = tmp_path / "b.zip"
    process = started("backup", str(path))
    assert eventually(lambda: copied_rows("COPY TO") > 0)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert [file.name for file in tmp_path.iterdir()] == ["b.zip.partial"]
    run("backup", str(path))
    assert [file.name for file in tmp_path.iterdir()] == ["b.zip"]
    Account.objects.update(name="After")
    was = everything()
    process = started("restore", str(path), "--replace")
    assert eventually(lambda: copied_rows("COPY FROM") > 0)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    assert everything() == was
    assert Account.objects.get().name == "After"
    run("restore", str(path), "--replace")
    assert Account.objects.get().name == "Before"


@pytest.mark.chaos
@pytest.mark.django_db(transaction=True)
def test_a_database_without_tables_gets_them_and_all_that_was_in_the_other(tmp_path: Path) -> None:
    filled(tmp_path)
    was = everything()
    run("backup", str(tmp_path / "b.zip"))
    other = urlsplit(database_url())._replace(path="/restored").geturl()
    with psycopg.connect(database_url(), autocommit=True) as server:
        server.execute("CREATE DATABASE restored")
        try:
            folders = {"EXPORTS_DIR": str(tmp_path / "e"), "PHOTOS_DIR": str(tmp_path / "p")}
            env = os.environ | {"DATABASE_URL": other} | folders
            command = [sys.executable, "manage.py", "restore", str(tmp_path / "b.zip")]
            done = subprocess.run(
                command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, check=False
            )
            assert (done.returncode, done.stderr) == (0, "")
            with psycopg.connect(other) as restored:
                rows = restored.execute("SELECT o::text FROM orders_order AS o").fetchall()
            again = subprocess.run(
                command, cwd=configuration.BASE_DIR, env=env, capture_output=True, text=True, check=False
            )
        finally:
            server.execute("DROP DATABASE restored WITH (FORCE)")
    assert rows == was["orders_order"]
    assert (tmp_path / "p/p/ä photo.jpg").read_bytes() == b"\x00\n\xff"
    assert again.returncode == 1
    assert again.stderr.startswith("CommandError: This database is in use: accounts_account has rows.")
