"""Who acts: the name that triggers write beside what a transaction changes."""

from django.db import connection


def by(actor: str) -> None:
    """Name who acts for the rest of this transaction: "staff:12", "import:osm". One statement.

    Triggers that write history read it; without it what happens is the system's.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("by() needs the transaction that makes the changes")
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('tablewire.actor', %s, true)", [actor[:80]])
