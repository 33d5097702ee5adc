"""The doorbell: tasks are asked for by the broker, and what is to be done stands in PostgreSQL."""

import logging
from typing import Any

from celery import Task
from django.conf import settings
from kombu.exceptions import OperationalError

logger = logging.getLogger("tablewire.worker")


def ring(
    task: Task[Any, Any],
    *,
    otherwise: str,
    queue: str = settings.CELERY_TASK_DEFAULT_QUEUE,
    expires_s: int | None = None,
    **arguments: Any,
) -> None:
    """Ask a worker to run the task with these arguments, within so many seconds if at all; call it after the commit.

    Tries once and never raises for a broker that is away: `otherwise` says in the log who does the work then.
    """
    try:
        # Without `expires` as Celery's own default has it: None.
        task.apply_async(kwargs=arguments, queue=queue, expires=expires_s, retry=False)  # type: ignore[arg-type]
    except OperationalError as error:
        logger.warning("The broker is away, so %s: %s", otherwise, error)
