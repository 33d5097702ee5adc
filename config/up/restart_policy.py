"""When a part that has ended is started again."""

from dataclasses import dataclass

from config.dev_stack import Child, Server

# A child that ends again and again is started ever later, and at once after it has run for a while.
LATEST_RESTART_S = 30.0
SETTLED_S = 60.0


@dataclass
class Watched:
    """A part that is started again when it ends, with growing pauses."""

    part: Child | Server
    started: float
    failures: int = 0
    due: float = 0.0

    def note_end(self, now: float) -> float:
        """Say in how many seconds it is to be started again."""
        self.failures = 0 if now - self.started > SETTLED_S else self.failures
        pause = min(LATEST_RESTART_S, 2.0 ** (self.failures - 1)) if self.failures else 0.0
        self.failures += 1
        self.due = now + pause
        return pause
