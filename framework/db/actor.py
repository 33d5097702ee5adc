"""The actor of a transaction, which the triggers of versions and row history record."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction
from psycopg.pq import TransactionStatus

# Read by the triggers of the catalogue's versions and by those of row history.
SET_ACTOR = "SELECT set_config('tablewire.actor', %s, true), set_config('pghistory.context_metadata', %s, true)"
# Statements that write nothing.
READ_KEYWORDS = ("SELECT", "SHOW", "EXPLAIN", "SET", "DECLARE", "FETCH", "CLOSE", "SAVEPOINT", "RELEASE", "ROLLBACK")


def set_actor(actor: str) -> None:
    """Set the actor for the rest of this transaction: "staff:12", "import:osm". One statement.

    Without it, history records changes as the system's.
    """
    if not connection.in_atomic_block:
        raise RuntimeError("set_actor() needs the transaction that makes the changes")
    with connection.cursor() as cursor:
        cursor.execute(SET_ACTOR, [actor[:80], json.dumps({"actor": actor[:300]}) if actor else ""])


@contextmanager
def acting_as(actor: str) -> Iterator[None]:
    """Set the actor in every transaction of this block, and in the one around it.

    For the edges, around one domain call: `with acting_as(request.access.actor): place_order(...)`. The dashboard and
    the back office do so for each POST. Costs one statement per transaction; a write outside of a transaction gets a
    transaction of its own.
    """
    wrapper = _ActorWrapper(actor)
    with connection.execute_wrapper(wrapper):
        yield
    if wrapper.is_set and connection.in_atomic_block and not connection.needs_rollback:
        set_actor("")


class _ActorWrapper:
    """An execute wrapper that sets the actor before the first statement of each transaction.

    It is set before the first savepoint, so that rolling back to a savepoint keeps it.
    """

    def __init__(self, actor: str) -> None:
        self.actor = actor
        self.is_set = False
        self.is_setting = False

    def __call__(self, execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: dict[str, Any]) -> Any:
        if self.is_setting:
            return execute(sql, params, many, context)
        if connection.in_atomic_block:
            is_first = connection.connection.info.transaction_status == TransactionStatus.IDLE
            if (is_first or not self.is_set) and not connection.needs_rollback:
                self._set()
            return execute(sql, params, many, context)
        if str(sql).lstrip(" (\n").upper().startswith(READ_KEYWORDS):
            return execute(sql, params, many, context)
        with transaction.atomic():
            self._set()
            return execute(sql, params, many, context)

    def _set(self) -> None:
        self.is_setting = True
        try:
            set_actor(self.actor)
        finally:
            self.is_setting = False
        self.is_set = True
