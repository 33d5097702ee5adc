"""Rate limits counted within one process, while Valkey is unavailable."""

import threading


class LocalCounter:
    """Counts calls per bucket in fixed windows; thread-safe."""

    MAX_BUCKETS = 10_000

    def __init__(self) -> None:
        self.lock = threading.Lock()
        # By bucket: the count, and the Unix time at which the window ends.
        self.windows: dict[str, tuple[int, int]] = {}

    def count(self, bucket: str, window_s: int, now: int) -> tuple[int, int]:
        """Count one call; return the count and the Unix time at which the window ends."""
        with self.lock:
            if len(self.windows) >= self.MAX_BUCKETS:
                live = [(name, window) for name, window in self.windows.items() if window[1] > now]
                # With more live buckets than room, the oldest ones are dropped.
                self.windows = dict(live[-self.MAX_BUCKETS // 2 :])
            count, ends_at = self.windows.get(bucket, (0, 0))
            if ends_at <= now:
                count, ends_at = 0, now + window_s
            self.windows[bucket] = (count + 1, ends_at)
            return count + 1, ends_at

    def undo(self, bucket: str, ends_at: int) -> None:
        """Count one call less, if the bucket's current window is the one that ends at `ends_at`."""
        with self.lock:
            count, current_end = self.windows.get(bucket, (0, 0))
            if current_end == ends_at and count > 0:
                self.windows[bucket] = (count - 1, ends_at)


local_counter = LocalCounter()
