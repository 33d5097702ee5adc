"""The writer of the request log: a thread that writes in batches, so that calls do not wait for it or fail by it.

An entry waits in the process for half a second at most. The thread writes the queued entries in one statement.
Entries that cannot be written stay queued up to a limit; beyond it they are dropped and counted. Outside of a web
server no thread runs.
"""

import logging
import os
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.util import Finalize
from typing import Any
from uuid import UUID

import orjson
from django.db import InterfaceError, OperationalError, close_old_connections, connection, connections
from django.http import HttpRequest, HttpResponseBase

from accounts.models import ApiKey
from accounts.request_log import redaction
from framework.api.error_handler import request_id_of
from framework.api.rate_limits.client_ip import client_ip
from framework.db.sql_files import read_sql
from framework.public_ids import decode

logger = logging.getLogger("tablewire.api")

FLUSH_INTERVAL_S = 0.5
BATCH = 200
COLUMNS = 14
# The queue while the database is unavailable.
MAX_QUEUED = 5_000
MAX_QUEUED_BYTES = 8 * 1024 * 1024
RETRY_INTERVAL_S = 2.0
# No rate limit bounds these responses. One a second for each key gets an entry; the others are only counted.
SAMPLED_STATUSES = frozenset((401, 429))
MAX_SAMPLED_KEYS = 10_000

WRITE = read_sql("accounts", "write_request_log")


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """A call as the middleware saw it, not redacted yet. `body` is of 4xx calls, `answer` of failed ones."""

    request_id: str
    key: ApiKey
    method: str
    path: str
    query: str
    status: int
    duration_ms: int
    address: str | None
    agent: str
    body: bytes
    answer: bytes
    at: datetime

    @property
    def size(self) -> int:
        """The approximate size in bytes."""
        return len(self.body) + len(self.answer) + 600


def build_entry(
    request: HttpRequest, response: HttpResponseBase, key: ApiKey, *, duration_s: float, at: datetime
) -> LogEntry:
    """Return the entry of a call. Reads no more of the request body than was read already."""
    status = response.status_code
    attributes = vars(request)
    read: bytes = attributes.get("_body") or attributes.get("body_in_chunks") or b""
    return LogEntry(
        request_id=request_id_of(request),
        key=key,
        method=(request.method or "")[:10],
        path=request.path[:2000],
        query=request.META.get("QUERY_STRING", "")[:4000],
        status=status,
        duration_ms=round(duration_s * 1000),
        address=client_ip(request),
        agent=request.META.get("HTTP_USER_AGENT", "")[:400],
        body=read[: redaction.MAX_INPUT_BYTES + 1] if 400 <= status < 500 else b"",
        answer=getattr(response, "content", b"")[: redaction.MAX_INPUT_BYTES] if status >= 400 else b"",
        at=at,
    )


class RequestLog:
    """The queue of entries in this process, and the thread that writes them."""

    def __init__(self) -> None:
        self.reset()
        self.starts_thread = False

    def reset(self) -> None:
        """Start with an empty queue and no thread. A forked process calls it too."""
        self.lock = threading.Lock()
        self.queue: list[LogEntry] = []
        self.queued_bytes = 0
        self.dropped = 0
        self.sampled_at: dict[UUID, int] = {}
        self.counted_only: Counter[tuple[UUID, datetime, int]] = Counter()
        self.has_entries, self.batch_is_full, self.stopping = threading.Event(), threading.Event(), threading.Event()
        self.flush_lock = threading.Lock()
        self.thread: threading.Thread | None = None
        self.process_id = os.getpid()

    def serve(self) -> None:
        """Start the thread with the first entry, as web servers do, and flush when the process ends."""
        self.starts_thread = True

    def log(
        self, request: HttpRequest, response: HttpResponseBase, key: ApiKey, *, duration_s: float, at: datetime
    ) -> None:
        """Queue an entry for the call. Never raises, because the response must be sent."""
        try:
            self.add(build_entry(request, response, key, duration_s=duration_s, at=at))
        except Exception:
            logger.exception("a call was not logged")

    def add(self, entry: LogEntry) -> None:
        """Queue the entry, or drop it if the queue is full."""
        if self.process_id != os.getpid():
            self.reset()
        with self.lock:
            if self._is_sampled_out(entry):
                hour = entry.at.replace(minute=0, second=0, microsecond=0)
                self.counted_only[entry.key.venue_id, hour, entry.status] += 1
            elif len(self.queue) >= MAX_QUEUED or self.queued_bytes > MAX_QUEUED_BYTES:
                self.dropped += 1
            else:
                self.queue.append(entry)
                self.queued_bytes += entry.size
            number = len(self.queue)
        if not self.starts_thread:
            return
        if not self.has_entries.is_set():
            self.start()
            self.has_entries.set()
        if number >= BATCH:
            self.batch_is_full.set()

    def _is_sampled_out(self, entry: LogEntry) -> bool:
        """Whether the key already got such a response in this second. Requires the lock."""
        if entry.status not in SAMPLED_STATUSES:
            return False
        second = int(entry.at.timestamp())
        if self.sampled_at.get(entry.key.pk) == second:
            return True
        if len(self.sampled_at) >= MAX_SAMPLED_KEYS:
            self.sampled_at.clear()
        self.sampled_at[entry.key.pk] = second
        return False

    def start(self) -> None:
        """Start the thread if it is not running."""
        if self.thread is not None and self.thread.is_alive():
            return
        with self.lock:
            if self.thread is None or not self.thread.is_alive():
                if self.thread is None:
                    # Processes of multiprocessing, such as the workers of the web server, run only finalizers when
                    # they end; atexit runs them in any other process.
                    Finalize(None, self.stop, exitpriority=10)
                self.thread = threading.Thread(target=self.run, name="request log", daemon=True)
                self.thread.start()

    def run(self) -> None:
        """Flush repeatedly until the process ends."""
        while not self.stopping.is_set():
            self.has_entries.wait()
            self.batch_is_full.wait(FLUSH_INTERVAL_S)
            self.has_entries.clear()
            self.batch_is_full.clear()
            close_old_connections()
            if not self.flush():
                connections.close_all()
                self.stopping.wait(RETRY_INTERVAL_S)
                self.has_entries.set()
        connections.close_all()

    def stop(self) -> None:
        """Stop the thread and write the last entries, when the process ends."""
        if self.process_id == os.getpid():
            self.stopping.set()
            self.batch_is_full.set()
            self.has_entries.set()
            if self.thread is not None:
                self.thread.join(timeout=1.5)
            self.flush()
            connections.close_all()

    def flush(self) -> bool:
        """Write the queue; return False, and keep the entries, if the database is unavailable."""
        with self.flush_lock:
            while True:
                with self.lock:
                    entries, self.queue = self.queue[:BATCH], self.queue[BATCH:]
                    self.queued_bytes = sum(entry.size for entry in self.queue)
                    counted_only, self.counted_only = self.counted_only, Counter()
                    dropped, self.dropped = self.dropped, 0
                if dropped:
                    logger.warning("%d calls were not logged: the queue was full", dropped)
                if not entries and not counted_only:
                    return True
                try:
                    write(entries, counted_only)
                except (OperationalError, InterfaceError) as error:
                    logger.warning("%d calls wait to be logged: %s", len(entries), error)
                    # The statement may have committed. Entries have a key and can be written again; counts cannot.
                    self._requeue(entries, lost=counted_only.total())
                    return False
                except Exception:
                    logger.exception("%d calls were not logged", len(entries))

    def _requeue(self, entries: list[LogEntry], *, lost: int) -> None:
        """Put the entries back at the front of the queue, as far as there is room."""
        with self.lock:
            room = max(MAX_QUEUED - len(self.queue), 0)
            self.queue = entries[:room] + self.queue
            self.queued_bytes = sum(entry.size for entry in self.queue)
            self.dropped += max(len(entries) - room, 0) + lost


def write(entries: Sequence[LogEntry], counted_only: Counter[tuple[UUID, datetime, int]]) -> None:
    """Store the redacted entries, and add them and the calls without an entry to the hourly counts. One statement."""
    rows = [to_row(entry) for entry in entries]
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(COLUMNS)]
    counts = [(venue, hour, status, number) for (venue, hour, status), number in counted_only.items()]
    count_columns = [list(column) for column in zip(*counts, strict=True)] if counts else [[], [], [], []]
    with connection.cursor() as cursor:
        cursor.execute(WRITE, [*columns, *count_columns])


def to_row(entry: LogEntry) -> tuple[Any, ...]:
    """Return the redacted columns of ApiCall, in the order of WRITE."""
    body, answer = redaction.redact_exchange(entry.body, entry.answer) if entry.answer else ("", "")
    return (
        decode("req", entry.request_id),
        entry.key.venue_id,
        entry.key.pk,
        redaction.redact_text(entry.method),
        redaction.redact_text(entry.path)[:500],
        redaction.redact_query(entry.query) if entry.query else "",
        entry.status,
        parse_error_code(entry.answer),
        entry.duration_ms,
        entry.address,
        redaction.redact_text(entry.agent, redaction.USER_AGENT_PATTERNS)[:200],
        body if entry.status < 500 else "",
        answer if entry.status < 500 else "",
        entry.at,
    )


def parse_error_code(answer: bytes) -> str:
    """Return `error.code` of a response, "" if there is none."""
    try:
        return str(orjson.loads(answer)["error"]["code"])[:40]
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""


request_log = RequestLog()
