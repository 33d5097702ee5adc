"""Enqueues Celery tasks without making a request wait for the broker.

What is to be done is a row in PostgreSQL; the message only says that it is there. A message that is lost costs time,
until a periodic task finds the row (config/celery.py).
"""

import logging
from functools import cache
from typing import Any

from celery import Celery, Task
from celery.canvas import Signature
from django.conf import settings
from kombu import Connection
from kombu.exceptions import LimitExceeded, OperationalError
from kombu.pools import producers

from framework.resilience.circuit_breaker import CircuitBreaker

logger = logging.getLogger("tablewire.worker")

TIMEOUT_S = 0.2
breaker = CircuitBreaker("the message broker", fallback="work waits for the periodic tasks")


@cache
def broker_connection(app: Celery) -> Connection:
    """The key of the producer pool: a connection that fails after TIMEOUT_S. Celery's own retries for 6 s."""
    limits = {"socket_timeout": TIMEOUT_S, "socket_connect_timeout": TIMEOUT_S, "max_retries": 0}
    return app.connection_for_write(transport_options=limits)


def enqueue(
    task: "Task[Any, Any] | Signature[Any]",
    *,
    queue: str = settings.CELERY_TASK_DEFAULT_QUEUE,
    expires_s: int | None = None,
    **arguments: Any,
) -> None:
    """Ask a worker to run the task with these arguments, within `expires_s` if given. Call it after the commit.

    Does nothing while the broker is away: it never raises for that, and takes at most TIMEOUT_S, of one caller a
    second.
    """
    if not breaker.allow_request():
        return
    try:
        with producers[broker_connection(task.app)].acquire(block=True, timeout=TIMEOUT_S) as producer:
            # Without `expires` as Celery's own default has it: None.
            task.apply_async(kwargs=arguments, queue=queue, expires=expires_s, retry=False, producer=producer)  # type: ignore[arg-type]
    except (OperationalError, LimitExceeded) as error:
        breaker.record_failure(error)
        logger.warning("task %s was not enqueued: a periodic task does its work later", task.name)
    else:
        breaker.record_success()
