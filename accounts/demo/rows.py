"""Rows of demo data: their ids, and how many are inserted at once.

A demo row has a UUID of version 8 (RFC 9562, section 5.8), where all other rows have version 7. So the rows that the
demo made are known without a column for it, and nobody can add one through the APIs or the pages.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from random import Random
from typing import Any
from uuid import UUID

import orjson
from django.db import connection
from django.db.models import AutoField, Func, JSONField, Model, Q, SmallIntegerField
from django.db.models.lookups import Exact
from psycopg.types.json import Jsonb
from uuid_utils.compat import uuid8

from accounts.models import EventType

DEMO_VERSION = 8
# The actors of the demo's events: the program whose key accounts.demo.api_traffic adds, and an employee.
KEY_START = "rk_test_DEMO"
PROGRAM = f"key:{KEY_START}"
STAFF = "staff:giulia@example.com"
EVENT_COLUMNS = ("id", "venue_id", "type", "subject", "actor", "record", "created_at")
UUID_VERSION = Func("pk", function="uuid_extract_version", output_field=SmallIntegerField())
# Condition: the demo made the row.
IS_DEMO = Q(Exact(UUID_VERSION, DEMO_VERSION))


def demo_id(venue: UUID, *name: object, at: datetime) -> UUID:
    """Return the id of a demo row of the venue: the millisecond of `at`, as in other ids, then a hash of the name."""
    text = f"{venue.hex}/{'/'.join(map(str, name))}"
    digest = int.from_bytes(blake2b(text.encode(), digest_size=10).digest())
    return uuid8(int(at.timestamp() * 1000), digest >> 62 & 0xFFF, digest & (1 << 62) - 1)


def random_of(venue: UUID, *name: object) -> Random:
    """Return a generator that makes the same choices for the same venue and name."""
    return Random(f"{venue.hex}/{'/'.join(map(str, name))}")  # noqa: S311  # reproducible, not secret


def event_row(
    venue: UUID, kind: EventType, *, subject: UUID, actor: str, record: Mapping[str, Any], version: int, at: datetime
) -> tuple[Any, ...]:
    """Return an event of the demo as a row of EVENT_COLUMNS. `version` is the one of the record."""
    key = demo_id(venue, kind, subject, version, at=at)
    return key, venue, kind.value, subject, actor, Jsonb(record, orjson.dumps), at


def insert(model: type[Model], columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert rows of these columns by COPY; bulk_create takes four times as long.

    A sequence, because an iterator that makes a query would wait for the COPY of its own connection for ever.
    """
    quoted = ", ".join(f'"{column}"' for column in columns)
    statement = f'COPY "{model._meta.db_table}" ({quoted}) FROM STDIN'
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def insert_objects(rows: Sequence[Model]) -> None:
    """Insert unsaved objects of one model by COPY. Generated keys are not set on them."""
    if rows:
        fields = [field for field in type(rows[0])._meta.concrete_fields if not isinstance(field, AutoField)]
        names = [(field.attname, isinstance(field, JSONField)) for field in fields]
        values = [
            [Jsonb(row.__dict__[name], orjson.dumps) if is_json else row.__dict__[name] for name, is_json in names]
            for row in rows
        ]
        insert(type(rows[0]), [str(field.column) for field in fields], values)
