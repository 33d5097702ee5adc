"""A circuit breaker: after failures in a row, calls to a service stop, and single probes find out when it is back.

Written here because no library does all of it. pybreaker 1.4 holds its lock during a call, so one that hangs blocks
all threads; circuitbreaker 2.1 and purgatory 3.0 let every caller through in the half-open state. None replaces a
probe that never returns.
"""

import logging
import threading
import time
from enum import StrEnum

logger = logging.getLogger("tablewire.circuit_breaker")


class State(StrEnum):
    """CLOSED: calls pass. OPEN: calls are refused. HALF_OPEN: one probe is under way, other calls are refused."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class CircuitBreaker:
    """The circuit breaker of one service in this process, shared by its threads.

    It opens after `failure_threshold` failures in a row. After `recovery_s` it admits one probe; a probe that reports
    nothing within `probe_timeout_s` is replaced by another. `fallback` completes the log line: "each process counts
    for itself".
    """

    def __init__(
        self,
        service: str,
        *,
        fallback: str,
        failure_threshold: int = 1,
        recovery_s: float = 1.0,
        probe_timeout_s: float = 1.0,
    ) -> None:
        self.service = service
        self.fallback = fallback
        self.failure_threshold = failure_threshold
        self.recovery_s = recovery_s
        self.probe_timeout_s = probe_timeout_s
        self.failures = 0
        # On the monotonic clock: when the next probe may start.
        self.next_probe_at = 0.0
        self._is_probing = False
        self._lock = threading.Lock()

    @property
    def state(self) -> State:
        if self.failures < self.failure_threshold:
            return State.CLOSED
        return State.HALF_OPEN if self._is_probing else State.OPEN

    def allow_request(self) -> bool:
        """Return whether this caller may call the service. Costs no lock while the breaker is closed."""
        if self.failures < self.failure_threshold:
            return True
        with self._lock:
            if self.failures < self.failure_threshold:
                return True
            now = time.monotonic()
            if now < self.next_probe_at:
                return False
            self._is_probing = True
            self.next_probe_at = now + self.probe_timeout_s
            return True

    def record_failure(self, reason: object) -> None:
        """Count a failed call. `reason` is logged when the breaker opens, so it must hold no secret."""
        with self._lock:
            self.failures += 1
            self._is_probing = False
            self.next_probe_at = time.monotonic() + self.recovery_s
            if self.failures == self.failure_threshold:
                logger.warning("circuit breaker open: %s failed, %s: %s", self.service, self.fallback, reason)

    def record_success(self) -> None:
        """Note that the service answered: the breaker closes."""
        if not self.failures:
            return
        with self._lock:
            if self.failures >= self.failure_threshold:
                logger.warning("circuit breaker closed: %s answers again", self.service)
            self.failures = 0
            self._is_probing = False
