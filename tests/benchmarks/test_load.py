"""Load: what the programs that ask say, and what counts as a wrong answer."""

import http.server
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks import pgbench
from benchmarks.figures import WrongAnswer
from benchmarks.load import Load, LoadResult, parse_wrk_output

ANSWER = b'{"data": []}'


@contextmanager
def server(*statuses: int) -> Iterator[str]:
    """A server that gives these statuses in turn, again and again."""
    count = iter(range(10**9))

    class Answers(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(statuses[next(count) % len(statuses)])
            self.send_header("Content-Length", str(len(ANSWER)))
            self.end_headers()
            self.wfile.write(ANSWER)

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002  # the name of the base class
            """Nothing is logged."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers) as held:
        thread = threading.Thread(target=held.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{held.server_port}"
        finally:
            held.shutdown()
            thread.join()


def asked(base_url: str, *, with_wrk: bool = False) -> LoadResult:
    """A short load on two connections."""
    load = Load(connections=2, seconds=1 if with_wrk else 0.2, with_wrk=with_wrk)
    return load.run(base_url, ["/a", "/b"], {"Authorization": "Bearer key"})


def test_the_generator_counts_answers_and_times_them() -> None:
    with server(200) as base_url:
        loaded = asked(base_url)
    # Each connection asks again and again.
    assert loaded.requests > 2
    assert loaded.wrong == 0
    assert 0 < loaded.p50_ms <= loaded.p99_ms
    assert loaded.check("ours") is loaded


def test_the_generator_counts_what_is_not_200() -> None:
    with server(200, 429) as base_url:
        loaded = asked(base_url)
    assert abs(loaded.wrong - loaded.requests / 2) <= 2
    with pytest.raises(WrongAnswer, match=rf"ours: {loaded.wrong} of {loaded.requests} answers were not 200"):
        loaded.check("ours")


def test_a_server_that_is_not_there_is_a_wrong_answer() -> None:
    with server(200) as base_url:
        pass
    loaded = asked(base_url)
    assert (loaded.requests, loaded.wrong) == (0, 2)
    with pytest.raises(WrongAnswer):
        loaded.check("ours")


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_wrk_counts_answers_and_the_wrong_ones() -> None:
    with server(200) as base_url:
        right = asked(base_url, with_wrk=True)
    with server(200, 503) as base_url:
        half = asked(base_url, with_wrk=True)
    assert (right.requests > 10, right.wrong, right.p50_ms > 0) == (True, 0, True)
    assert abs(half.wrong - half.requests / 2) <= 4


@pytest.mark.exhaustive
@pytest.mark.skipif(shutil.which("wrk") is None, reason="wrk is not installed")
def test_a_round_of_wrk_may_be_shorter_than_the_second_that_it_knows() -> None:
    with server(200) as base_url:
        loaded = Load(connections=2, seconds=0.4).run(base_url, ["/a"], {})
    assert (loaded.requests > 10, loaded.wrong) == (True, 0)
    assert 0.1 < loaded.seconds < 0.8


def test_what_wrk_says_at_its_end_is_read() -> None:
    line = '{"requests": 12, "seconds": 2.000000, "p50_ms": 1.5000, "p99_ms": 9.0000, "wrong": 3}'
    loaded = parse_wrk_output(f"a warning\n{line}\n")
    assert loaded == LoadResult(requests=12, seconds=2.0, p50_ms=1.5, p99_ms=9.0, wrong=3)
    assert loaded.per_second == 6


def test_wrk_that_says_something_else_is_quoted() -> None:
    with pytest.raises(WrongAnswer, match="unable to connect"):
        parse_wrk_output("", "unable to connect to 127.0.0.1:1 Connection refused")


def test_pgbench_is_read_with_the_waits_of_its_log() -> None:
    text = "number of failed transactions: 0 (0.000%)\nlatency average = 1.0 ms\ntps = 1234.5 (without initial)\n"
    figure = pgbench.parse_pgbench_output(text, range(1000, 102_000, 1000))
    assert (figure.per_second, figure.p50_ms, figure.p99_ms) == (1234.5, 51.0, 100.0)


def test_a_failed_transaction_of_pgbench_is_a_wrong_answer() -> None:
    with pytest.raises(WrongAnswer, match="pgbench"):
        pgbench.parse_pgbench_output("number of failed transactions: 2 (0.1%)\ntps = 10.0 (without)\n", [])
    with pytest.raises(WrongAnswer, match="relation does not exist"):
        pgbench.parse_pgbench_output("", [], output="ERROR: relation does not exist")
