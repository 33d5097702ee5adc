"""How the log is written: one line for each entry, with the request it belongs to."""

import logging
from contextvars import ContextVar
from typing import Any

# The call that this thread, or the task that it rang for, is about. Its id is made within, at the doorway.
current_request: ContextVar[Any] = ContextVar("asked", default=None)


def request_id() -> str:
    """The id of the call that is under way here, "" where there is none."""
    return str(getattr(current_request.get(), "request_id", ""))


def add_request_id(entry: logging.LogRecord) -> bool:
    """Put the id of the call on an entry that does not name one, for the line's end."""
    known = (
        getattr(entry, "request_id", "") or getattr(getattr(entry, "request", None), "request_id", "") or request_id()
    )
    entry.of_request = f" [{known}]" if known else ""
    return True


def replace_path_by_route(entry: logging.LogRecord) -> bool:
    """Name the route instead of the path, in which a guest's token may stand."""
    request: Any = getattr(entry, "request", None)
    match = getattr(request, "resolver_match", None)
    if match and isinstance(entry.args, tuple):
        entry.args = tuple(f"/{match.route}" if value == request.path else value for value in entry.args)
    return True


def drop_traceback(entry: logging.LogRecord) -> bool:
    """Leave one line of an entry: for what any stranger can cause, where the traceback says nothing more."""
    entry.exc_info = None
    return True


def logging_config(level: str) -> dict[str, Any]:
    """LOGGING of the settings."""
    callback = "django.utils.log.CallbackFilter"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s%(of_request)s"}},
        "filters": {
            "one line": {"()": callback, "callback": drop_traceback},
            "route": {"()": callback, "callback": replace_path_by_route},
            "its request": {"()": callback, "callback": add_request_id},
        },
        "handlers": {
            "console": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["its request"]},
        },
        "root": {"handlers": ["console"], "level": level},
        "loggers": {
            "django.request": {"level": "ERROR", "filters": ["route"]},
            "django.security": {"level": "ERROR"},
            "django.security.DisallowedHost": {"filters": ["one line"]},
            # They would write each call with its address, which may hold the key to a hosted node, and what is signed.
            "httpx": {"level": "WARNING"},
            "x402": {"level": "WARNING"},
        },
    }
