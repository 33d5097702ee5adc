"""The doorbell: tasks are asked for by the broker, and what is to be done stands in PostgreSQL.

Requests ring, so a broker that is away or frozen costs them next to nothing: one caller a second finds out for all,
and gives up soon. Whoever is not rung for finds the work by looking (config/celery.py).
"""

import logging
from functools import cache
from typing import Any

from celery import Task, current_app
from django.conf import settings
from kombu import Connection
from kombu.exceptions import LimitExceeded, OperationalError
from kombu.pools import producers

from framework.resilience.circuit_breaker import Outage

logger = logging.getLogger("tablewire.worker")

PATIENCE_S = 0.2
outage = Outage("the broker", meanwhile="nobody is rung for")


@cache
def impatient() -> Connection:
    """What stands for the broker in kombu's pool: its own connections would try again and again, for 6 s."""
    patience = {"socket_timeout": PATIENCE_S, "socket_connect_timeout": PATIENCE_S, "max_retries": 0}
    return current_app.connection_for_write(transport_options=patience)


def ring(
    task: Task[Any, Any],
    *,
    otherwise: str,
    queue: str = settings.CELERY_TASK_DEFAULT_QUEUE,
    expires_s: int | None = None,
    **arguments: Any,
) -> None:
    """Ask a worker to run the task with these arguments, within so many seconds if at all; call it after the commit.

    Tries once, and not at all within a second of a failure. Never raises for a broker that is away: `otherwise` says
    in the log who does the work then.
    """
    if not outage.may_ask():
        return
    try:
        with producers[impatient()].acquire(block=True, timeout=PATIENCE_S) as producer:
            # Without `expires` as Celery's own default has it: None.
            task.apply_async(kwargs=arguments, queue=queue, expires=expires_s, retry=False, producer=producer)  # type: ignore[arg-type]
    except (OperationalError, LimitExceeded) as error:
        outage.begins(error)
        logger.warning("The broker is away, so %s: %s", otherwise, error)
    else:
        outage.ends()
