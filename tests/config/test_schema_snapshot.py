"""The schema snapshot is what the migrations make, and an empty database begins with it."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from config.management.commands.schema_snapshot import dump_database
from framework.db import schema_snapshot


@pytest.fixture
def empty_database() -> Iterator[str]:
    """The URL of a new database on the server of the tests."""
    server_url, _, _ = os.environ["DATABASE_URL"].rpartition("/")
    name = f"empty_{os.getpid()}"
    with psycopg.connect(f"{server_url}/postgres", autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield f"{server_url}/{name}"
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def start_migrate(url: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "manage.py", "migrate", "--no-color"]
    env = os.environ | {"DATABASE_URL": url}
    return subprocess.Popen(command, cwd=settings.BASE_DIR, env=env, stdout=subprocess.PIPE, text=True)


@pytest.mark.stack
def test_the_snapshot_is_what_all_migrations_make_of_an_empty_database() -> None:
    call_command("schema_snapshot", check=True)


@pytest.mark.stack
def test_migrate_loads_the_snapshot_into_an_empty_database_once(empty_database: str) -> None:
    processes = [start_migrate(empty_database) for _ in range(2)]
    outputs = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted("Loaded the schema snapshot." in output for output in outputs) == [False, True]
    assert all("No migrations to apply." in output for output in outputs)
    assert dump_database(empty_database) == schema_snapshot.FILE.read_text()


@pytest.mark.deep
def test_a_database_with_a_table_is_migrated_without_the_snapshot(empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection:
        connection.execute("CREATE TABLE someone_elses (id int)")
    process = start_migrate(empty_database)
    output, _ = process.communicate()
    assert process.returncode == 0
    assert "Loaded the schema snapshot." not in output
    assert "Applying catalogue.0001_initial... OK" in output


@pytest.mark.stack
def test_migrations_that_are_newer_than_the_snapshot_are_applied_after_it(empty_database: str) -> None:
    """The snapshot without the last migration, as an older file would be."""
    with psycopg.connect(empty_database) as connection:
        connection.execute(schema_snapshot.FILE.read_text())
        connection.execute("RESET search_path")
        connection.execute("DELETE FROM public.django_migrations WHERE app = 'catalogue' AND name >= '0016'")
        connection.execute("DROP INDEX public.flow_booking_of_phone")
    output, _ = start_migrate(empty_database).communicate()
    assert "Applying catalogue.0016_phone_contact_index... OK" in output
    assert "Applying catalogue.0017_menus_are_exported... OK" in output
    assert dump_database(empty_database).count("catalogue', '0016_phone_contact_index'") == 1


@pytest.mark.django_db
def test_a_database_without_a_migration_of_the_snapshot_is_not_current() -> None:
    assert schema_snapshot.is_applied()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO django_migrations (app, name, applied) VALUES ('orders', '9999_newer', now())")
        assert schema_snapshot.is_applied()
        cursor.execute("DELETE FROM django_migrations WHERE app = 'orders' AND name LIKE '0002%'")
    assert not schema_snapshot.is_applied()


@pytest.mark.deep
def test_a_migration_that_is_interrupted_again_and_again_leaves_a_database_that_migrates(empty_database: str) -> None:
    with psycopg.connect(empty_database) as connection:
        # Without the snapshot there is a table beforehand, and each migration is a transaction of its own.
        connection.execute("CREATE TABLE someone_elses (id int)")
    interrupted = 0
    for _ in range(3):
        process = start_migrate(empty_database)
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip().startswith("Applying") and line.strip().endswith("OK"):
                # Not SIGINT, which a suite in the background has its children ignore.
                process.send_signal(signal.SIGTERM)
                break
        process.communicate()
        interrupted += process.returncode != 0
    assert interrupted == 3
    output, _ = start_migrate(empty_database).communicate()
    assert "Applying" in output
    with psycopg.connect(empty_database) as connection:
        connection.execute("DROP TABLE public.someone_elses")
    names = "SELECT app, name FROM public.django_migrations ORDER BY 1, 2"
    with psycopg.connect(empty_database) as connection:
        applied = connection.execute(names).fetchall()
    assert len(applied) == len(set(applied)) == schema_snapshot.FILE.read_text().count("', now())")
    assert "No migrations to apply." in start_migrate(empty_database).communicate()[0]


def test_every_constraint_is_valid_for_the_rows_that_there_are() -> None:
    assert "NOT VALID" not in schema_snapshot.FILE.read_text(encoding="utf-8")
