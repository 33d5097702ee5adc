"""Servers that are away for a while, as one process knows of them."""

import logging
import threading
import time

logger = logging.getLogger("tablewire.outages")

# After a failure a server is left alone for this long, so that a frozen one costs one caller a second its timeout.
REST_S = 1.0


class Outage:
    """Whether a server is away, known to all threads of this process: one of them finds out for all.

    If each thread found out for itself, all would wait, one after the other. `server` and `meanwhile` are words for
    the log: "the counters", "each process counts for itself".
    """

    def __init__(self, server: str, *, meanwhile: str) -> None:
        self.server = server
        self.meanwhile = meanwhile
        self.lock = threading.Lock()
        self.is_away = False
        self.rests_until = 0.0

    def may_ask(self) -> bool:
        """Whether this caller is to ask the server: always while it is there, one caller a second while it is not."""
        if not self.is_away:
            return True
        with self.lock:
            now = time.monotonic()
            if now < self.rests_until:
                return False
            self.rests_until = now + REST_S
            return True

    def begins(self, error: Exception) -> None:
        """The server has failed."""
        with self.lock:
            self.rests_until = time.monotonic() + REST_S
            if not self.is_away:
                self.is_away = True
                logger.warning("%s: away, so %s: %s", self.server, self.meanwhile, error)

    def ends(self) -> None:
        """The server has answered. Since when it could have is not known to a process that had nothing to ask."""
        if not self.is_away:
            return
        with self.lock:
            if self.is_away:
                self.is_away = False
                logger.warning("%s: back", self.server)
