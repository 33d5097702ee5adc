"""Makes the request id available to the log and to the tasks that a request enqueues."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from celery.signals import before_task_publish, task_postrun, task_prerun
from django.http import HttpRequest, HttpResponseBase

from framework.observability import logging

# Beside Celery's own headers of a message.
HEADER = "tablewire_request"


class RequestIdMiddleware:
    """Sets the current request, whose id RateLimitMiddleware adds later."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        token = logging.current_request.set(request)
        try:
            return self.get_response(request)
        finally:
            logging.current_request.reset(token)


def connect_celery_signals() -> None:
    before_task_publish.connect(add_header, weak=False, dispatch_uid=HEADER)
    task_prerun.connect(read_header, weak=False, dispatch_uid=HEADER)
    task_postrun.connect(clear_request, weak=False, dispatch_uid=HEADER)


def add_header(*, headers: dict[str, Any] | None = None, **rest: Any) -> None:
    if headers is not None and (id_ := logging.request_id()):
        headers[HEADER] = id_


def read_header(*, task: Any, **rest: Any) -> None:
    logging.current_request.set(SimpleNamespace(request_id=task.request.get(HEADER) or ""))


def clear_request(**rest: Any) -> None:
    logging.current_request.set(None)
