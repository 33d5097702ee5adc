"""The first migration of each app, which stands for all those that the app had before there was a release."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder


def make_references(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Make the foreign keys and indexes that Django leaves for the end, as the last step of a migration.

    Where something is left Django records the migration after the commit of its tables, each of up to 36 names in a
    commit of its own: who is killed between two of them could not go on.
    """
    for statement in schema_editor.deferred_sql:
        schema_editor.execute(statement, params=None)
    schema_editor.deferred_sql.clear()


@register(Tags.database)
def refuse_what_lies_between(*, databases: Sequence[str] | None = None, **rest: Any) -> Sequence[CheckMessage]:
    """A database to which some of the replaced migrations were applied and some were not; it costs one query.

    Django finds nothing to do there, or fails at the first model that refers to what is not there.
    """
    return [found for alias in databases or () for found in between(alias)]


def between(alias: str) -> Iterator[CheckMessage]:
    """What lies between in this database, app by app."""
    loader = MigrationLoader(None, load=False)
    loader.load_disk()
    applied = MigrationRecorder(connections[alias]).applied_migrations().keys()
    for (app, name), migration in sorted(loader.disk_migrations.items()):
        missing = [replaced for replaced in migration.replaces if replaced not in applied]
        if missing and len(missing) < len(migration.replaces):
            total, last = len(migration.replaces), migration.replaces[-1][1]
            yield Error(
                f"The database {alias!r} has {total - len(missing)} of the {total} migrations that {app}.{name}"
                f" replaces; the first that it lacks is {missing[0][1]}.",
                hint=f"Migrate with the last version that has {app}/migrations/{last}.py, and then with this one.",
                id="tablewire.E010",
            )
