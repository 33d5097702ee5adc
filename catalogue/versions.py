"""Versions of restaurants: who is writing them down."""

from django.db import connection


def by(actor: str) -> None:
    """Name who changes restaurants for the rest of this transaction: "staff:12", "import:osm". One statement.

    The trigger that writes versions reads it; without it they are the system's.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("by() needs the transaction that changes restaurants")
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('tablewire.actor', %s, true)", [actor[:80]])


def publish() -> int:
    """To be written by C."""
    raise NotImplementedError
