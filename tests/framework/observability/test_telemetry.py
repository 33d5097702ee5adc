"""Those who watch us: errors and times reach real receivers, with the id of the call and nothing of the caller."""

import gzip
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.conf import settings
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from accounts.models import Venue
from framework.observability import logging as observability_logging
from framework.public_ids import encode, new_id
from tests.accounts.webhook_receivers import Receiver, receiving
from tests.config.test_settings import load_settings
from tests.support import builders
from tests.support.live_server import database_url, served
from tests.support.live_stack import eventually

CANARY = "canary-7f3a"


@contextmanager
def working(log: Path, **environment: str) -> Iterator[None]:
    """A worker of the queue of the observed product, until the block ends."""
    command = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "tests.framework.observability.observed_app",
        "worker",
        "-Q",
        "observed",
    ]
    with log.open("wb") as file:
        process = subprocess.Popen(
            [*command, "--concurrency", "1", "--without-gossip", "--without-mingle", "--without-heartbeat"],
            cwd=settings.BASE_DIR,
            env={**os.environ, "DATABASE_URL": database_url(), **environment},
            stdout=file,
            stderr=file,
        )
        try:
            yield
        finally:
            process.terminate()
            process.wait(timeout=30)


def errors_in(receiver: Receiver) -> list[dict[str, Any]]:
    """The errors that were sent to Sentry, each with its whole envelope's text under `sent`."""
    found = []
    for received in receiver.received:
        if not received.path.endswith("/envelope/"):
            continue
        text = gzip.decompress(received.body).decode()
        lines = text.split("\n")
        found += [json.loads(line) | {"sent": text} for line in lines if '"exception"' in line or '"logentry"' in line]
    return found


def spans_in(receiver: Receiver) -> list[Any]:
    """The spans that were sent to the collector."""
    traces = [
        ExportTraceServiceRequest.FromString(received.body)
        for received in receiver.received
        if received.path == "/v1/traces"
    ]
    return [
        span
        for trace in traces
        for resource in trace.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]


def output(span: Any) -> dict[str, Any]:
    """The attributes of a span."""
    return {one.key: one.value.string_value or one.value.int_value for one in span.attributes}


@pytest.mark.stack
@pytest.mark.django_db(transaction=True)
def test_errors_and_times_are_reported_with_the_request_id_and_without_personal_data(
    venue: Venue, tmp_path: Path
) -> None:
    key = builders.key(venue).text
    with receiving() as receiver:
        address = f"http://127.0.0.1:{receiver.server_port}"
        environment = {
            "SENTRY_DSN": f"http://public@127.0.0.1:{receiver.server_port}/1",
            "OTEL_EXPORTER_OTLP_ENDPOINT": address,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        with (
            working(tmp_path / "worker.log", **environment),
            served(
                tmp_path / "web.log", application="tests.framework.observability.observed_app:web", **environment
            ) as base_url,
        ):
            broke = httpx.post(
                f"{base_url}/api/v1/breaks?card={CANARY}",
                json={"note": CANARY},
                headers={"Authorization": f"Bearer {key}", "User-Agent": CANARY},
            )
            enqueued = httpx.get(
                f"{base_url}/api/v1/tasks/{CANARY}?word={CANARY}", headers={"Authorization": f"Bearer {key}"}
            )
            assert (broke.status_code, enqueued.status_code) == (500, 204)

            def have_come() -> bool:
                return len(errors_in(receiver)) >= 3 and len(spans_in(receiver)) >= 3

            assert eventually(have_come, within_s=60), (tmp_path / "worker.log").read_text()[-3000:]
    payload, spans = errors_in(receiver), {span.name: span for span in spans_in(receiver)}
    asked, enqueued_id = broke.headers["x-request-id"], enqueued.headers["x-request-id"]
    assert asked == broke.json()["error"]["request_id"]
    kinds = sorted(
        (error["tags"]["request_id"], error["exception"]["values"][-1]["type"] if "exception" in error else "line")
        for error in payload
    )
    assert kinds == sorted([(enqueued_id, "ZeroDivisionError"), (asked, "ZeroDivisionError"), (asked, "line")])
    assert set(spans) == {
        "POST /api/v1/breaks",
        "GET /api/v1/tasks/<str:token>",
        "tests.framework.observability.observed_app.fail",
    }
    assert output(spans["POST /api/v1/breaks"]) == {
        "http.request.method": "POST",
        "http.route": "/api/v1/breaks",
        "http.response.status_code": 500,
        "tablewire.request_id": asked,
    }
    request, task = spans["GET /api/v1/tasks/<str:token>"], spans["tests.framework.observability.observed_app.fail"]
    assert (task.trace_id, task.parent_span_id) == (request.trace_id, request.span_id)
    assert output(task) == {"tablewire.request_id": enqueued_id}
    assert f"the task began [{enqueued_id}]" in (tmp_path / "worker.log").read_text()
    assert task.status.message == "ZeroDivisionError"
    everything = [error["sent"] for error in payload] + [str(span) for span in spans.values()]
    assert [text for text in everything if CANARY in text or key in text or key[8:] in text] == []


@pytest.mark.parametrize(("variable", "extra"), [("SENTRY_DSN", "sentry"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "otel")])
def test_a_receiver_without_its_extra_stops_the_start(
    monkeypatch: pytest.MonkeyPatch, variable: str, extra: str
) -> None:
    monkeypatch.setenv(variable, "http://key@127.0.0.1:1/1")
    monkeypatch.setattr("config.environment.find_spec", lambda name: None)
    with pytest.raises(Exception, match=f"{variable} must be unset where .* its extra `{extra}`"):
        load_settings()


@pytest.mark.stack
def test_nothing_is_loaded_without_configured_receivers() -> None:
    program = "import config.wsgi, sys; print([name for name in sys.modules if name.startswith({names})])"
    names = ("sentry_sdk", "opentelemetry.exporter")
    done = subprocess.run(
        [sys.executable, "-c", program.format(names=names)],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "[]\n"


def test_a_line_of_the_log_names_the_call_that_it_is_about() -> None:
    written = StringIO()
    how = observability_logging.logging_config("INFO")
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter(how["formatters"]["line"]["format"].replace("%(asctime)s ", "")))
    handler.addFilter(observability_logging.add_request_id)
    logger = logging.getLogger("of.a.test")
    logger.setLevel("INFO")
    logger.addHandler(handler)
    asked = encode("req", new_id())
    logger.info("of nobody")
    token = observability_logging.current_request.set(type("Asked", (), {"request_id": asked}))
    logger.info("of a call")
    observability_logging.current_request.reset(token)
    logger.info("of another", extra={"request_id": "req_2"})
    assert written.getvalue() == (
        f"INFO of.a.test of nobody\nINFO of.a.test of a call [{asked}]\nINFO of.a.test of another [req_2]\n"
    )
