"""Who acts: the name that triggers write beside what is changed."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from psycopg.pq import TransactionStatus

# In one statement what both kinds of triggers read: those of the catalogue's versions, and those of row history.
SET_ACTOR = "SELECT set_config('tablewire.actor', %s, true), set_config('pghistory.context_metadata', %s, true)"
# Statements that change nothing that history is kept of.
READ_KEYWORDS = ("SELECT", "SHOW", "EXPLAIN", "SET", "DECLARE", "FETCH", "CLOSE", "SAVEPOINT", "RELEASE", "ROLLBACK")


def set_actor(actor: str) -> None:
    """Name who acts for the rest of this transaction: "staff:12", "import:osm". One statement.

    Triggers that write history read it; without it what happens is the system's.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("by() needs the transaction that makes the changes")
    with connection.cursor() as cursor:
        cursor.execute(SET_ACTOR, [actor[:80], json.dumps({"actor": actor[:300]}) if actor else ""])


@contextmanager
def acting_as(actor: str) -> Iterator[None]:
    """Name who acts in every transaction that this block begins, or that it is within.

    For the edges, around the one call of a verb: `with acting.as_(request.access.actor): verb(...)`. The doorway of
    the dashboard and the back office do so for each POST, so that their pages need nothing of it. Costs one statement
    in each transaction; what is written outside of one gets one of its own.
    """
    naming = _Naming(actor)
    with connection.execute_wrapper(naming):
        yield
    if naming.is_named and connection.in_atomic_block and not connection.needs_rollback:
        set_actor("")


class _Naming:
    """Stands before each statement of the block; the first of a transaction is preceded by the name.

    The name is written before the first savepoint of a transaction, so that rolling back to one keeps it.
    """

    def __init__(self, actor: str) -> None:
        self.actor = actor
        self.is_named = False
        self.is_naming = False

    def __call__(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if self.is_naming:
            return execute(sql, params, many, context)
        if connection.in_atomic_block:
            begins = connection.connection.info.transaction_status == TransactionStatus.IDLE
            if (begins or not self.is_named) and not connection.needs_rollback:
                self._name()
            return execute(sql, params, many, context)
        if str(sql).lstrip(" (\n").upper().startswith(READ_KEYWORDS):
            return execute(sql, params, many, context)
        with transaction.atomic():
            self._name()
            return execute(sql, params, many, context)

    def _name(self) -> None:
        self.is_naming = True
        try:
            set_actor(self.actor)
        finally:
            self.is_naming = False
        self.is_named = True
