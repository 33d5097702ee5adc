"""Writes that outlast a restart of PostgreSQL."""

import time
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connection

from framework.resilience.deadline import Deadline

DISCONNECTED = (OperationalError, InterfaceError)
# The pause doubles from the first to the longest.
FIRST_PAUSE_S, MAX_PAUSE_S = 0.25, 4.0


def retry_on_disconnect(
    write: Callable[[], object],
    *,
    timeout_s: float = 10.0,
    on_disconnect: Callable[[Exception], None] = lambda _: None,
) -> bool:
    """Run `write`, and repeat it for up to `timeout_s` while PostgreSQL is away; return whether it succeeded.

    `write` may run more than once, also after a commit whose confirmation was lost. Call it outside of transactions.
    """
    deadline, pause_s = Deadline.after(timeout_s), FIRST_PAUSE_S
    while True:
        try:
            write()
        except DISCONNECTED as error:
            connection.close()
            on_disconnect(error)
            if deadline.remaining_s < pause_s:
                return False
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, MAX_PAUSE_S)
        else:
            return True
