"""The logging configuration: one line per record, with the request id."""

import logging
from contextvars import ContextVar
from typing import Any

# The request of this thread, or of the task that it enqueued. RateLimitMiddleware sets its id.
current_request: ContextVar[Any] = ContextVar("current_request", default=None)


def request_id() -> str:
    """The id of the current request, or ""."""
    return str(getattr(current_request.get(), "request_id", ""))


def add_request_id(record: logging.LogRecord) -> bool:
    """Set `request_suffix`, the end of the line, from the record or the current request."""
    id_ = (
        getattr(record, "request_id", "")
        or getattr(getattr(record, "request", None), "request_id", "")
        or request_id()
    )
    record.request_suffix = f" [{id_}]" if id_ else ""
    return True


def replace_path_by_route(record: logging.LogRecord) -> bool:
    """Replace the path by the route: a path may contain a guest's token."""
    request: Any = getattr(record, "request", None)
    match = getattr(request, "resolver_match", None)
    if match and isinstance(record.args, tuple):
        record.args = tuple(f"/{match.route}" if value == request.path else value for value in record.args)
    return True


def drop_traceback(record: logging.LogRecord) -> bool:
    """Drop the traceback of errors that any client can cause."""
    record.exc_info = None
    return True


def logging_config(level: str) -> dict[str, Any]:
    callback = "django.utils.log.CallbackFilter"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s%(request_suffix)s"}},
        "filters": {
            "one line": {"()": callback, "callback": drop_traceback},
            "route": {"()": callback, "callback": replace_path_by_route},
            "request id": {"()": callback, "callback": add_request_id},
        },
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["request id"]},
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django.request": {"level": "ERROR", "filters": ["route"]},
            "django.security": {"level": "ERROR"},
            "django.security.DisallowedHost": {"filters": ["one line"]},
            # They would log URLs, which may contain the key of a hosted node, and signed payloads.
            "httpx": {"level": "WARNING"},
            "x402": {"level": "WARNING"},
            # It would log 40 lines about the font of each PDF.
            "fontTools": {"level": "WARNING"},
        },
    }
