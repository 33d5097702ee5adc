"""Runs the SQL that Django defers to the end of a migration as an operation of that migration."""

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def create_references(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Create the deferred foreign keys and indexes, as the last operation of a large migration.

    If statements are left, Django commits the tables and records the migration afterwards, in a commit of its own: a
    process that is killed in between leaves a database that cannot be migrated again.
    """
    for statement in schema_editor.deferred_sql:
        schema_editor.execute(statement, params=None)
    schema_editor.deferred_sql.clear()
