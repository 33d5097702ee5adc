"""Writes down each call that a key of ours made, beside the calls: they wait for nothing, and never fail by it.

A line waits in the process for half a second at most. One thread writes what waits, in one statement; what it cannot
write waits on, up to a limit, and is dropped and counted beyond it. Where no web server runs nothing writes by itself.
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
from framework.public_ids import decode

logger = logging.getLogger("tablewire.api")

EVERY_S = 0.5
BATCH = 200
COLUMNS = 14
# Lines and bytes that may wait while the database is away.
MOST = 5_000
MOST_BYTES = 8 * 1024 * 1024
AWAY_S = 2.0
# Nothing else bounds how often these are answered to a key: one a second has a line, and the others are counted.
REFUSED_AT_THE_DOOR = frozenset((401, 429))
MOST_KEYS = 10_000

# One statement, so one transaction: what was written before by a flush that seemed to fail is not counted again. Hours
# are written in the order of their key, so that two processes never wait for each other in a ring.
WRITE = """
    WITH written AS (
        INSERT INTO accounts_apicall (
            id, venue_id, key_id, method, path, query, status, error_code, duration_ms, address, user_agent, body,
            answer, created_at
        )
        SELECT id, venue, key, method, path, query, status, code, ms, address::inet, agent, body, answer, at
        FROM unnest(
            %s::uuid[], %s::uuid[], %s::uuid[], %s::text[], %s::text[], %s::text[], %s::int[], %s::text[], %s::int[],
            %s::text[], %s::text[], %s::text[], %s::text[], %s::timestamptz[]
        ) AS line (id, venue, key, method, path, query, status, code, ms, address, agent, body, answer, at)
        ON CONFLICT (id) DO NOTHING
        RETURNING venue_id, status, created_at
    ), counted AS (
        SELECT venue_id, date_trunc('hour', created_at, 'UTC') AS hour, status, 1 AS calls FROM written
        UNION ALL
        SELECT * FROM unnest(%s::uuid[], %s::timestamptz[], %s::int[], %s::int[])
    )
    INSERT INTO accounts_apihour AS kept (venue_id, hour, calls, refused, broken)
    SELECT
        venue_id, hour, sum(calls), coalesce(sum(calls) FILTER (WHERE status BETWEEN 400 AND 499), 0),
        coalesce(sum(calls) FILTER (WHERE status >= 500), 0)
    FROM counted GROUP BY venue_id, hour ORDER BY venue_id, hour
    ON CONFLICT (venue_id, hour) DO UPDATE
    SET calls = kept.calls + excluded.calls, refused = kept.refused + excluded.refused,
        broken = kept.broken + excluded.broken
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A call as it was seen at the doorway; not masked yet. `body` is of refused calls, `answer` of failed ones."""

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
        """About how many bytes it holds."""
        return len(self.body) + len(self.answer) + 600


def line_of(request: HttpRequest, response: HttpResponseBase, key: ApiKey, *, duration_s: float, at: datetime) -> Line:
    """What there is to say of an answered call. Reads nothing more of the request: who refused it may not have."""
    status = response.status_code
    return Line(
        request_id=request_id_of(request),
        key=key,
        method=(request.method or "")[:10],
        path=request.path[:2000],
        query=request.META.get("QUERY_STRING", "")[:4000],
        status=status,
        duration_ms=round(duration_s * 1000),
        address=client_ip(request),
        agent=request.META.get("HTTP_USER_AGENT", "")[:400],
        body=read_of(request) if 400 <= status < 500 else b"",
        answer=getattr(response, "content", b"")[: redaction.LONGEST] if status >= 400 else b"",
        at=at,
    )


def read_of(request: HttpRequest) -> bytes:
    """The body, as far as somebody has read it; of one that is too long to be kept only its beginning."""
    read = vars(request)
    body: bytes = read.get("_body") or read.get("body_in_chunks") or b""
    return body[: redaction.LONGEST + 1]


class RequestLog:
    """The lines that wait in this process, and the thread that writes them."""

    def __init__(self) -> None:
        self.forget()
        self.writes_itself = False

    def forget(self) -> None:
        """Begin anew: nothing waits, and no thread runs. Also in a process that was forked from another."""
        self.lock = threading.Lock()
        self.waiting: list[Line] = []
        self.held = 0
        self.dropped = 0
        self.refused_in: dict[UUID, int] = {}
        self.unlined: Counter[tuple[UUID, datetime, int]] = Counter()
        self.some, self.many, self.over = threading.Event(), threading.Event(), threading.Event()
        self.writing = threading.Lock()
        self.writer: threading.Thread | None = None
        self.process = os.getpid()

    def serve(self) -> None:
        """Write from now on, as web servers do; what waits when the process ends is written then."""
        self.writes_itself = True

    def note(
        self, request: HttpRequest, response: HttpResponseBase, key: ApiKey, *, duration_s: float, at: datetime
    ) -> None:
        """Have the call written down some moments later. Never raises: the answer is on its way."""
        try:
            self.add(line_of(request, response, key, duration_s=duration_s, at=at))
        except Exception:
            logger.exception("a call was not written down")

    def add(self, line: Line) -> None:
        """Have the line wait, or drop it where too many do."""
        if self.process != os.getpid():
            self.forget()
        with self.lock:
            if self.is_one_of_many(line):
                hour = line.at.replace(minute=0, second=0, microsecond=0)
                self.unlined[line.key.venue_id, hour, line.status] += 1
            elif len(self.waiting) >= MOST or self.held > MOST_BYTES:
                self.dropped += 1
            else:
                self.waiting.append(line)
                self.held += line.size
            number = len(self.waiting)
        if not self.writes_itself:
            return
        if not self.some.is_set():
            self.start()
            self.some.set()
        if number >= BATCH:
            self.many.set()

    def is_one_of_many(self, line: Line) -> bool:
        """Whether the key was refused like that in this second before. Call it with the lock."""
        if line.status not in REFUSED_AT_THE_DOOR:
            return False
        second = int(line.at.timestamp())
        if self.refused_in.get(line.key.pk) == second:
            return True
        if len(self.refused_in) >= MOST_KEYS:
            self.refused_in.clear()
        self.refused_in[line.key.pk] = second
        return False

    def start(self) -> None:
        """See to it that the thread runs."""
        if self.writer is not None and self.writer.is_alive():
            return
        with self.lock:
            if self.writer is None or not self.writer.is_alive():
                if self.writer is None:
                    # At the end of a process that multiprocessing made, like the workers of the web server, only this
                    # is called, and at that of any other by atexit.
                    Finalize(None, self.stop, exitpriority=10)
                self.writer = threading.Thread(target=self.run, name="request log", daemon=True)
                self.writer.start()

    def run(self) -> None:
        """Write what waits, again and again, until the process ends."""
        while not self.over.is_set():
            self.some.wait()
            self.many.wait(EVERY_S)
            self.some.clear()
            self.many.clear()
            close_old_connections()
            if not self.flush():
                connections.close_all()
                self.over.wait(AWAY_S)
                self.some.set()
        connections.close_all()

    def stop(self) -> None:
        """Write the last lines: the process ends."""
        if self.process == os.getpid():
            self.over.set()
            self.many.set()
            self.some.set()
            if self.writer is not None:
                self.writer.join(timeout=1.5)
            self.flush()
            connections.close_all()

    def flush(self) -> bool:
        """Write what waits; false where the database takes nothing, so that it waits on."""
        with self.writing:
            while True:
                with self.lock:
                    lines, self.waiting = self.waiting[:BATCH], self.waiting[BATCH:]
                    self.held = sum(line.size for line in self.waiting)
                    unlined, self.unlined = self.unlined, Counter()
                    dropped, self.dropped = self.dropped, 0
                if dropped:
                    logger.warning("%d calls were not written down: too many waited", dropped)
                if not lines and not unlined:
                    return True
                try:
                    write(lines, unlined)
                except (OperationalError, InterfaceError) as error:
                    logger.warning("%d calls wait to be written down: %s", len(lines), error)
                    # Lines have a key by which a second time is known; of mere counts it is not known whether they
                    # were written.
                    self.take_back(lines, lost=unlined.total())
                    return False
                except Exception:
                    logger.exception("%d calls were not written down", len(lines))

    def take_back(self, lines: list[Line], *, lost: int) -> None:
        """Have the lines wait again, before those that have come since, as far as there is room."""
        with self.lock:
            room = max(MOST - len(self.waiting), 0)
            self.waiting = lines[:room] + self.waiting
            self.held = sum(line.size for line in self.waiting)
            self.dropped += max(len(lines) - room, 0) + lost


def write(lines: Sequence[Line], unlined: Counter[tuple[UUID, datetime, int]]) -> None:
    """Store the lines, masked, and count them, and the calls without a line, in their hours. One statement."""
    rows = [stored(line) for line in lines]
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(COLUMNS)]
    counts = [(venue, hour, status, number) for (venue, hour, status), number in unlined.items()]
    more = [list(column) for column in zip(*counts, strict=True)] if counts else [[], [], [], []]
    with connection.cursor() as cursor:
        cursor.execute(WRITE, [*columns, *more])


def stored(line: Line) -> tuple[Any, ...]:
    """The line as a row of ApiCall, in the order of WRITE."""
    body, answer = redaction.exchange(line.body, line.answer) if line.answer else ("", "")
    return (
        decode("req", line.request_id),
        line.key.venue_id,
        line.key.pk,
        redaction.text(line.method),
        redaction.text(line.path)[:500],
        redaction.query(line.query) if line.query else "",
        line.status,
        code_in(line.answer),
        line.duration_ms,
        line.address,
        redaction.program(line.agent)[:200],
        body if line.status < 500 else "",
        answer if line.status < 500 else "",
        line.at,
    )


def code_in(answer: bytes) -> str:
    """`error.code` of an answer, "" where it has none."""
    try:
        return str(orjson.loads(answer)["error"]["code"])[:40]
    except (orjson.JSONDecodeError, LookupError, TypeError):
        return ""


request_log = RequestLog()
