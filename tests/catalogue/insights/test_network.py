"""Models asked over real HTTP, by both protocols: networks that fail, statuses, other forms of a request."""

import json
import time
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest

from catalogue.insights.providers import prompt
from catalogue.insights.providers.base import TokenUsage
from catalogue.insights.providers.llm import LLMProvider, Outcome
from config.dev_stack.servers import free_port
from tests.catalogue.insights import model_server
from tests.catalogue.insights.llm_helpers import PLACE, answer, ask, configured, error, failed
from tests.catalogue.insights.model_server import ANTHROPIC, KEY, OPENAI, InsightServer, Protocol, Response
from tests.catalogue.insights.test_output_validation import HONEST_TEXT

SHORT_TIMEOUT_S = 0.5
both = pytest.mark.parametrize("protocol", [pytest.param(each, id=each.name) for each in (OPENAI, ANTHROPIC)])


@pytest.fixture
def server() -> Iterator[InsightServer]:
    with model_server.insight_server() as made:
        yield made


@pytest.fixture
def model(protocol: Protocol, server: InsightServer, settings: Any) -> LLMProvider:
    return configured(protocol, server, settings)


@pytest.fixture
def hurried(model: LLMProvider, server: InsightServer, protocol: Protocol, settings: Any) -> LLMProvider:
    """One with little time, which has been asked before: the first time it loads its library."""
    ask(model, server, protocol.says(answer()))
    server.requests.clear()
    settings.INSIGHT_TIMEOUT_S = SHORT_TIMEOUT_S
    return type(model)()


# The network
@pytest.mark.exhaustive
@both
@pytest.mark.parametrize(
    "response",
    [
        pytest.param(Response(after_s=20), id="nothing comes"),
        pytest.param(Response(every_s=0.05), id="headers come for ever"),
    ],
)
def test_slow_provider_is_aborted_at_the_deadline(
    hurried: LLMProvider, server: InsightServer, response: Response
) -> None:
    began = time.monotonic()
    assert ask(hurried, server, response) == failed("The provider did not answer in time.")
    assert SHORT_TIMEOUT_S * 0.9 < time.monotonic() - began < SHORT_TIMEOUT_S + 0.5
    assert len(server.requests) == 1


@pytest.mark.exhaustive
@both
def test_a_body_that_comes_byte_by_byte_is_left(hurried: LLMProvider, server: InsightServer) -> None:
    def drip() -> Iterator[bytes]:
        while not server.ended.wait(0.05):
            yield b" "

    began = time.monotonic()
    assert ask(hurried, server, Response(chunks=drip())) == failed("The provider did not answer in time.")
    assert time.monotonic() - began < SHORT_TIMEOUT_S + 0.5


@both
def test_unreachable_provider_is_reported(model: LLMProvider, settings: Any) -> None:
    settings.INSIGHT_BASE_URL = f"http://127.0.0.1:{free_port()}"
    model = type(model)()
    assert model.request_draft(PLACE) == failed("The provider cannot be reached.", TokenUsage(0, 0))


@both
def test_half_an_answer_is_none(model: LLMProvider, server: InsightServer, protocol: Protocol) -> None:
    half = Response(body=protocol.says(answer()).body, half=True)
    assert ask(model, server, half) == failed("The response is incomplete, too large or compressed.")


@pytest.mark.exhaustive
@both
def test_a_huge_answer_is_not_taken_into_memory(model: LLMProvider, server: InsightServer, protocol: Protocol) -> None:
    ask(model, server, protocol.says(answer()))
    tracemalloc.start()
    try:
        huge = ask(model, server, Response(chunks=model_server.endless(time.monotonic() + 5)))
        packed = Response(body=model_server.bomb(), headers={"Content-Encoding": "gzip"})
        tracemalloc.reset_peak()
        bomb = ask(model, server, packed)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert huge == bomb == failed("The response is incomplete, too large or compressed.")
    assert server.sent < 20_000_000
    assert peak < 10_000_000


@both
def test_a_redirect_is_not_followed(model: LLMProvider, server: InsightServer) -> None:
    elsewhere = Response(status=307, headers={"Location": f"{server.url}/elsewhere"})
    assert ask(model, server, elsewhere) == failed("The provider returned an error (307).", TokenUsage(0, 0))
    assert len(server.requests) == 1


# Statuses
@pytest.mark.sample(3)
@both
@pytest.mark.parametrize(
    ("status", "code", "reason", "used"),
    [
        (
            401,
            "invalid_api_key",
            "The provider refuses INSIGHT_API_KEY (401 invalid_api_key).",
            TokenUsage(0, 0),
        ),
        (
            403,
            "permission_error",
            "The provider refuses INSIGHT_API_KEY (403 permission_error).",
            TokenUsage(0, 0),
        ),
        (404, "model_not_found", "The provider returned an error (404 model_not_found).", TokenUsage(0, 0)),
        (413, "request_too_large", "The provider returned an error (413 request_too_large).", TokenUsage(0, 0)),
        (500, "api_error", "The provider returned an error (500 api_error).", None),
        (500, f"the key is {KEY}", "The provider returned an error (500).", None),
        (500, "<b>boom</b>", "The provider returned an error (500).", None),
    ],
)
def test_error_status_is_reported_without_the_text_of_the_provider(
    model: LLMProvider, server: InsightServer, status: int, code: str, reason: str, used: TokenUsage | None
) -> None:
    assert ask(model, server, error(status, code)) == failed(reason, used)
    assert len(server.requests) == 1


@pytest.mark.exhaustive
@both
def test_busy_provider_is_retried_once_after_the_requested_delay(
    model: LLMProvider, server: InsightServer, protocol: Protocol
) -> None:
    busy = error(429, "rate_limit_error", **{"Retry-After": "0.1"})
    began = time.monotonic()
    assert ask(model, server, busy, protocol.says(answer())).outcome == Outcome.WRITTEN
    assert time.monotonic() - began > 0.1
    assert len(server.requests) == 2
    assert ask(model, server, busy) == failed(
        "The provider limits our requests (429 rate_limit_error).", TokenUsage(0, 0)
    )
    assert len(server.requests) == 4


@pytest.mark.sample(3)
@both
@pytest.mark.parametrize("pause", ["3600", "-", "nan", "inf", "Wed, 21 Oct 2026 07:28:00 GMT", "0.6"])
def test_retry_delay_beyond_the_deadline_is_not_waited(
    hurried: LLMProvider, server: InsightServer, pause: str
) -> None:
    began = time.monotonic()
    reply = ask(hurried, server, error(429, "rate_limit_error", **{"Retry-After": pause}))
    assert reply.reason == "The provider limits our requests (429 rate_limit_error)."
    assert time.monotonic() - began < SHORT_TIMEOUT_S


# Other forms of a request
@pytest.mark.exhaustive
@both
@pytest.mark.parametrize("status", [400, 422])
def test_server_without_schema_support_gets_the_next_response_format(
    model: LLMProvider, server: InsightServer, protocol: Protocol, status: int
) -> None:
    rows = protocol.says(answer())
    if protocol is ANTHROPIC:
        used = {"type": "tool_use", "id": "t1", "name": "write_insight", "input": json.loads(answer())}
        rows = protocol.says("", content=[{"type": "text", "text": "Here."}, used], ended="tool_use")
    reply = ask(model, server, error(status, "invalid_request_error"), rows)
    assert reply.draft is not None
    assert reply.draft.text == HONEST_TEXT
    loose = server.requests[1].body
    if protocol is OPENAI:
        assert loose["response_format"] == {"type": "json_object"}
        assert loose["messages"][0] == {"role": "system", "content": prompt.INSTRUCTIONS_WITH_SCHEMA}
    else:
        assert "output_config" not in loose
        assert loose["tool_choice"] == {"type": "tool", "name": "write_insight"}
        assert [tool["input_schema"] for tool in loose["tools"]] == [prompt.SCHEMA]
    # It is remembered.
    ask(model, server, rows)
    assert server.requests[2].body == loose
    assert len(server.requests) == 3


@both
def test_request_that_no_response_format_fixes_fails(model: LLMProvider, server: InsightServer) -> None:
    assert ask(model, server, error(400, "invalid_request_error")) == failed(
        "The provider returned an error (400 invalid_request_error).", TokenUsage(0, 0)
    )
    assert len(server.requests) == 2
