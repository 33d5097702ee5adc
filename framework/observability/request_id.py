"""Lets the log, and the tasks that are rung for, name the call that they are about."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from celery.signals import before_task_publish, task_postrun, task_prerun
from django.http import HttpRequest, HttpResponseBase

from framework.observability import logging

# Beside Celery's own headers of a message.
HEADER = "tablewire_request"


class Asking:
    """The outermost middleware but health: whatever happens further in is about this call."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Remember the call while it is answered; its id is made within."""
        token = logging.asked.set(request)
        try:
            return self.get_response(request)
        finally:
            logging.asked.reset(token)


def pass_on() -> None:
    """Have messages carry the id of the call, and tasks take it from them. Celery keeps the three."""
    before_task_publish.connect(write, weak=False, dispatch_uid=HEADER)
    task_prerun.connect(read, weak=False, dispatch_uid=HEADER)
    task_postrun.connect(forget, weak=False, dispatch_uid=HEADER)


def write(*, headers: dict[str, Any] | None = None, **rest: Any) -> None:
    """Put the id of the call on a message."""
    if headers is not None and (known := logging.request_id()):
        headers[HEADER] = known


def read(*, task: Any, **rest: Any) -> None:
    """Take the id from the message of the task that begins."""
    logging.asked.set(SimpleNamespace(request_id=task.request.get(HEADER) or ""))


def forget(**rest: Any) -> None:
    """The task is over."""
    logging.asked.set(None)
