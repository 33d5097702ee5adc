"""A worker with a beat in it (-B) starts the beat again if its process ends, as the pool does with those of tasks.

Without a beat, what was not enqueued and what has to be tried again would wait for the next start of the worker.
"""

import logging
from typing import Any

from celery import bootsteps
from celery.worker import components

logger = logging.getLogger("tablewire.worker")

CHECK_INTERVAL_S = 5.0


class BeatRestart(bootsteps.StartStopStep):
    """The step of a worker's start that watches its beat."""

    requires = (components.Timer, components.Beat)

    def start(self, worker: Any) -> None:
        for step in worker.steps:
            if isinstance(step, components.Beat):
                worker.timer.call_repeatedly(CHECK_INTERVAL_S, restart_if_ended, (worker, step))


def restart_if_ended(worker: Any, step: components.Beat) -> None:
    if not step.obj.is_alive():
        logger.error("The beat has ended unexpectedly; starting it again.")
        step.obj = step.create(worker)
        step.obj.start()
