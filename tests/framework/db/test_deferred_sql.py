"""Foreign keys that Django defers are created inside the first migrations."""

from django.db.migrations.loader import MigrationLoader

from framework.db.deferred_sql import create_references

APPS = {"accounts", "catalogue", "orders", "payments", "reservations"}


def test_each_first_migration_ends_with_its_deferred_references() -> None:
    migrations = MigrationLoader(None).disk_migrations
    last = {app: migrations[app, "0001_initial"].operations[-1] for app in APPS}
    assert {app: operation.code for app, operation in last.items()} == dict.fromkeys(APPS, create_references)  # type: ignore[attr-defined]
