"""Lets the log, and the tasks that are enqueued, name the call that they are about."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from celery.signals import before_task_publish, task_postrun, task_prerun
from django.http import HttpRequest, HttpResponseBase

from framework.observability import logging

# Beside Celery's own headers of a message.
HEADER = "tablewire_request"


class RequestIdMiddleware:
    """The outermost middleware but health: whatever happens further in is about this call."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Remember the call while it is answered; its id is made within."""
        token = logging.current_request.set(request)
        try:
            return self.get_response(request)
        finally:
            logging.current_request.reset(token)


def connect_celery_signals() -> None:
    """Have messages carry the id of the call, and tasks take it from them. Celery keeps the three."""
    before_task_publish.connect(add_header, weak=False, dispatch_uid=HEADER)
    task_prerun.connect(read_header, weak=False, dispatch_uid=HEADER)
    task_postrun.connect(clear_request, weak=False, dispatch_uid=HEADER)


def add_header(*, headers: dict[str, Any] | None = None, **rest: Any) -> None:
    """Put the id of the call on a message."""
    if headers is not None and (known := logging.request_id()):
        headers[HEADER] = known


def read_header(*, task: Any, **rest: Any) -> None:
    """Take the id from the message of the task that begins."""
    logging.current_request.set(SimpleNamespace(request_id=task.request.get(HEADER) or ""))


def clear_request(**rest: Any) -> None:
    """The task is over."""
    logging.current_request.set(None)
