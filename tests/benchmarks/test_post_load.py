"""Load that writes: each order has an Idempotency-Key of its own, and what is not 201 is counted as wrong."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks import post_load
from benchmarks.load import Load

BODY = b'{"customer_id": "benchmark"}'


@contextmanager
def server(status: int) -> Iterator[tuple[str, list[tuple[str, str, str, bytes]]]]:
    """A server that answers everything with this status, and what it was asked: method, key, name, body."""
    asked: list[tuple[str, str, str, bytes]] = []

    class Answers(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            key, name = self.headers.get("Authorization", ""), self.headers.get("Idempotency-Key", "")
            asked.append((self.command, key, name, body))
            self.send_response(status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # the name of the base class
            """Nothing is logged."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as held:
        thread = threading.Thread(target=held.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{held.server_port}", asked
        finally:
            held.shutdown()
            thread.join()


@pytest.mark.exhaustive
@pytest.mark.parametrize("with_wrk", [False, True])
def test_every_order_is_another_one_and_the_venues_take_turns(with_wrk: bool) -> None:
    load = Load(connections=2, seconds=1, with_wrk=with_wrk)
    if with_wrk and not load.uses_wrk:
        pytest.skip("wrk is not installed")
    with server(201) as (base_url, asked):
        loaded = post_load.place_orders(load, base_url, path="/api/v1/orders", body=BODY, keys=["one", "two"])
    assert loaded.requests > 10
    assert loaded.wrong == 0
    names = [name for _, _, name, _ in asked]
    assert len(set(names)) == len(names) >= loaded.requests
    assert {key for _, key, _, _ in asked} == {"Bearer one", "Bearer two"}
    assert {body for *_, body in asked} == {BODY}


def test_an_order_that_is_not_taken_is_counted_as_wrong() -> None:
    load = Load(connections=1, seconds=0.1, with_wrk=False)
    with server(200) as (base_url, _):
        loaded = post_load.place_orders(load, base_url, path="/", body=BODY, keys=["one"])
    assert loaded.wrong == loaded.requests > 0


@pytest.mark.exhaustive
@pytest.mark.parametrize("with_wrk", [False, True])
def test_requests_that_were_made_before_are_sent_as_they_are(with_wrk: bool) -> None:
    load = Load(connections=1, seconds=1 if with_wrk else 0.2, with_wrk=with_wrk)
    if with_wrk and not load.uses_wrk:
        pytest.skip("wrk is not installed")
    with server(200) as (base_url, asked):
        bodies = [b'{"a": "line\\n"}', '{"b": "ù\n"}'.encode(), b""]
        requests = [post_load.request_of(base_url, "POST", "/mcp", {"Accept": "*/*"}, body) for body in bodies]
        loaded = post_load.repeat_requests(load, base_url, requests)
    assert loaded.wrong == 0
    # wrk has asked for one before.
    found = [body for *_, body in asked]
    first = bodies.index(found[0])
    assert found[:6] == [bodies[(first + place) % 3] for place in range(6)]
