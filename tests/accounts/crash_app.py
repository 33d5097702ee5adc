"""The product as a WSGI application that dies when it is told to: after everything is done, before it is said."""

import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from config.wsgi import application as product


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """Answer; with the header `Die` write the body into the file that it names instead, and kill this process."""
    answer = product(environ, start_response)
    last_words = environ.get("HTTP_DIE")
    if last_words:
        Path(last_words).write_bytes(b"".join(answer))
        os.kill(os.getpid(), signal.SIGKILL)
    return answer
