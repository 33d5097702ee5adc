"""Sends random requests to the MCP endpoint, judges what comes back, and shrinks what is answered wrong."""

import http.client
import io
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from django.test import Client

from tests.mcp import client as mcp_client
from tests.mcp.fuzzing import Case, places, without


@dataclass(frozen=True)
class Seen:
    """What came back; `status` 0 where the server hung up without a word."""

    status: int
    kind: str
    body: bytes


@contextmanager
def over_http(base_url: str) -> Iterator[Callable[[Case], Seen]]:
    """Sends cases to a server as they are, byte by byte, one after the other on one connection where that holds."""
    parts = urlsplit(base_url)
    host, port = parts.hostname or "127.0.0.1", parts.port or 80
    stored: list[socket.socket] = []

    def send(case: Case) -> Seen:
        for is_new in (not stored, True):
            link = socket.create_connection((host, port), timeout=30) if is_new else stored.pop()
            try:
                seen, goes_on = exchanged(link, case, host=f"{host}:{port}")
            except (ConnectionError, http.client.HTTPException) as error:
                link.close()
                if is_new:
                    # What came was no HTTP; of what says wrongly how long it is nothing else can be expected.
                    return Seen(0, "", b"" if case.is_framed else repr(error).encode())
                continue
            if goes_on:
                stored.append(link)
            else:
                link.close()
            return seen
        raise AssertionError("never here")

    try:
        yield send
    finally:
        for link in stored:
            link.close()


def exchanged(link: socket.socket, case: Case, *, host: str) -> tuple[Seen, bool]:
    """The answer, and whether another case may be sent behind it. Raises what sockets and HTTP raise."""
    text = {"Host": host, "X-Forwarded-For": case.address}
    if not case.is_framed and (case.body or case.verb == "POST"):
        text["Content-Length"] = str(len(case.body))
    text |= dict(case.headers)
    head = f"{case.verb} {case.path} HTTP/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in text.items())
    # Who does not wait for the end of it is answered before it was sent.
    with suppress(ConnectionError):
        link.sendall(head.encode("latin-1") + b"\r\n" + case.body)
        # Where a server waits for more there is none; one that has all of it may take this for going away.
        if case.is_framed and not case.body.endswith(b"0\r\n\r\n"):
            link.shutdown(socket.SHUT_WR)
    response = http.client.HTTPResponse(link, method=case.verb)
    response.begin()
    body = response.read()
    goes_on = not response.will_close and not case.is_framed and response.status < 500
    return Seen(response.status, response.headers.get("Content-Type", ""), body), goes_on


def in_process(case: Case) -> Seen:
    """Hands a case to the application, as a web server does that has read its head."""
    environ: dict[str, Any] = {
        "HTTP_" + name.upper().replace("-", "_"): value for name, value in {**dict(case.headers)}.items()
    }
    for name in ("CONTENT_TYPE", "CONTENT_LENGTH"):
        if f"HTTP_{name}" in environ:
            environ[name] = environ.pop(f"HTTP_{name}")
    if not case.is_framed:
        environ["CONTENT_LENGTH"] = str(len(case.body))
    if "HTTP_TRANSFER_ENCODING" in environ:
        environ["wsgi.input_terminated"] = True
    environ |= {"wsgi.input": io.BytesIO(case.body), "HTTP_X_FORWARDED_FOR": case.address}
    client = Client(raise_request_exception=False)
    # What stands behind the body in the environment of the test client is ours.
    kind = environ.pop("CONTENT_TYPE", "")
    answer = client.generic(case.verb, case.path, b"", content_type=kind, **environ)
    body = b"" if case.verb == "HEAD" else answer.content
    return Seen(answer.status_code, answer.headers.get("Content-Type", ""), body)


# Judging
def problem(seen: Seen) -> str | None:
    """What is wrong with an answer, whatever was asked; None where nothing is."""
    if seen.status == 0:
        return f"hung up: {seen.body.decode()}" if seen.body else None
    if seen.status >= 500:
        return f"status {seen.status}"
    if not seen.body:
        return None
    try:
        reply = json.loads(seen.body)
    except ValueError:
        return f"neither JSON nor empty: {seen.body[:80]!r}"
    if "json" not in seen.kind:
        return f"JSON that is said to be {seen.kind}"
    # Our own crash, told in the band of MCP.
    if isinstance(reply, dict) and ("-32603" in str(reply.get("error")) or broke(reply.get("result"))):
        return f"broke: {seen.body[:300]!r}"
    return None


def broke(result: Any) -> bool:
    """Whether the result of a tool says that it broke."""
    beside = result.get("_meta") if isinstance(result, dict) else None
    refusal = beside.get(mcp_client.ERROR) if isinstance(beside, dict) else None
    return isinstance(refusal, dict) and refusal.get("code") == "internal_error"


def shrunk(case: Case, is_wrong: Callable[[Case], bool]) -> Case:
    """The smallest case found that is still wrong; at most some hundreds are tried."""
    left = 400
    while left > 0:
        for smaller in simpler(case):
            left -= 1
            if is_wrong(smaller):
                case = smaller
                break
            if left <= 0:
                return case
        else:
            return case
    return case


def simpler(case: Case) -> Iterator[Case]:
    """Cases that are a step simpler."""
    if case.verb != "POST":
        yield replace(case, verb="POST")
    if case.path != "/mcp":
        yield replace(case, path="/mcp")
    for name, _ in case.headers:
        yield replace(case, headers=tuple(each for each in case.headers if each[0] != name))
    try:
        reply = json.loads(case.body)
    except ValueError:
        half = len(case.body) // 2
        for part in (case.body[:half], case.body[half:]):
            if len(part) < len(case.body):
                yield replace(case, body=part)
        return
    for way in places(reply):
        if way:
            yield replace(case, body=json.dumps(without(reply, way)).encode())
