"""When a process that has ended is started again."""

from dataclasses import dataclass

from config.dev_stack import Child, Server

# The delay doubles with each failure; a process that has run for a while is restarted at once.
MAX_DELAY_S = 30.0
STABLE_AFTER_S = 60.0


@dataclass
class Watched:
    """A process that is started again when it ends. Moments are of time.monotonic()."""

    process: Child | Server
    started_at: float
    failures: int = 0
    restart_at: float | None = None

    def schedule_restart(self, now: float) -> float:
        """Set `restart_at`; return the delay in seconds."""
        self.failures = 0 if now - self.started_at > STABLE_AFTER_S else self.failures
        delay_s = min(MAX_DELAY_S, 2.0 ** (self.failures - 1)) if self.failures else 0.0
        self.failures += 1
        self.restart_at = now + delay_s
        return delay_s
