"""Questions to the person behind a call: put in an answer, answered in the next call, held together by a signature."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import signing

from tests.mcp.client import Era
from tests.mcp.server import NAME, asked, response_json

STATELESS: Era = "2026-07-28"
INVALID_PARAMS = -32602
NOW = datetime(2026, 7, 28, 12, tzinfo=UTC)
FORMS: dict[str, Any] = {"elicitation": {"form": {}}}
YES = {"action": "accept", "content": {"name": "Ada"}}


def call(tool: str, *, caller: str = "ada", capabilities: Any = FORMS, word: str = "a", **rest: Any) -> Any:
    """The JSON that answers a call by one who shows forms. `rest` stands beside name and arguments."""
    params = {"name": tool, "arguments": {"word": word}, **rest}
    return response_json(
        asked("tools/call", params, era=STATELESS, capabilities=capabilities, headers={"X-Caller": caller})
    )


def question(answer: Any) -> tuple[str, Any]:
    """The state and the only request of an answer that asks."""
    result = answer["result"]
    assert result["resultType"] == "input_required"
    assert "content" not in result
    return result["requestState"], result["inputRequests"]


def words(answer: Any) -> str:
    """What a model reads."""
    return str(answer["result"]["content"][0]["text"])


def test_a_tool_that_lacks_something_asks_for_it() -> None:
    _, requests = question(call("greet"))
    assert requests == {
        "user_name": {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": "What is your name?", "requestedSchema": NAME},
        }
    }


@pytest.mark.parametrize("capabilities", [{"elicitation": {}}, {"elicitation": {"form": {}, "url": {}}}])
def test_the_answer_comes_with_the_next_call(capabilities: Any) -> None:
    state, _ = question(call("greet", capabilities=capabilities))
    answer = call("greet", capabilities=capabilities, requestState=state, inputResponses={"user_name": YES})
    assert (words(answer), answer["result"]["resultType"]) == ("Hello, Ada!", "complete")


@pytest.mark.parametrize("capabilities", [{}, {"sampling": {}}, {"elicitation": {"url": {}}}, {"elicitation": None}])
def test_who_shows_no_forms_is_never_asked(capabilities: Any) -> None:
    result = call("greet", capabilities=capabilities)["result"]
    assert (result["isError"], result["resultType"]) == (True, "complete")
    assert result["content"][0]["text"] == ("The client shows no forms, so this cannot be asked: What is your name?")


@pytest.mark.parametrize("era", ["2025-11-25", "2025-06-18", "2025-03-26"])
def test_clients_of_the_handshake_are_never_asked(era: Era) -> None:
    result = response_json(asked("tools/call", {"name": "greet"}, era=era, capabilities=FORMS))["result"]
    assert result["isError"] is True


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_who_does_not_want_to_answer_is_not_asked_again(action: str) -> None:
    state, _ = question(call("greet"))
    result = call("greet", requestState=state, inputResponses={"user_name": {"action": action}})["result"]
    assert result["isError"] is True
    assert result["content"][0]["text"] == (
        "The person behind the call did not want to answer, so nothing was done. Ask them before you call again."
    )


@pytest.mark.parametrize(
    "responses",
    [
        None,
        5,
        [],
        {},
        {"wrong_key": YES},
        {"user_name": None},
        {"user_name": 12345},
        {"user_name": {}},
        {"user_name": {"action": "accept"}},
        {"user_name": {"action": "accept", "content": []}},
        {"user_name": {"action": "perhaps", "content": {"name": "Ada"}}},
        {"user_name": {"action": ["accept"], "content": {"name": "Ada"}}},
        # The tool asks again for what it cannot use.
        {"user_name": {"action": "accept", "content": {"name": ""}}},
    ],
    ids=str,
)
def test_what_is_no_answer_is_asked_again(responses: object) -> None:
    state, _ = question(call("greet"))
    again, requests = question(call("greet", requestState=state, inputResponses=responses))
    assert list(requests) == ["user_name"]
    assert words(call("greet", requestState=again, inputResponses={"user_name": YES})) == "Hello, Ada!"


def test_answers_to_what_was_not_asked_are_passed_over() -> None:
    state, _ = question(call("greet"))
    responses = {"user_name": YES, "another": {"action": "decline"}, "unknown": 5}
    assert words(call("greet", requestState=state, inputResponses=responses)) == "Hello, Ada!"


def test_an_answer_without_a_question_is_asked() -> None:
    _, requests = question(call("greet", inputResponses={"user_name": YES}))
    assert list(requests) == ["user_name"]


def test_a_tool_may_ask_several_questions_and_keeps_the_answers() -> None:
    first, requests = question(call("paint"))
    assert list(requests) == ["step1"]
    second, requests = question(call("paint", requestState=first, inputResponses={"step1": YES}))
    assert list(requests) == ["step2"]
    assert second != first
    color = {"step2": {"action": "accept", "content": {"color": "blue"}}}
    assert words(call("paint", requestState=second, inputResponses=color)) == "Ada likes blue."
    # A client that repeats what it has answered before changes nothing of it.
    repeated = color | {"step1": {"action": "accept", "content": {"name": "Eve"}}}
    assert words(call("paint", requestState=second, inputResponses=repeated)) == "Ada likes blue."
    # Without the second answer it is the second question that is put again.
    again, requests = question(call("paint", requestState=second))
    assert list(requests) == ["step2"]
    assert words(call("paint", requestState=again, inputResponses=color)) == "Ada likes blue."
    declined = call("paint", requestState=second, inputResponses={"step2": {"action": "decline"}})
    assert declined["result"]["isError"] is True


@pytest.mark.parametrize("change", [{"caller": "eve"}, {"word": "b"}, {"tool": "paint"}], ids=str)
def test_a_state_is_good_for_this_caller_tool_and_arguments_alone(change: dict[str, str]) -> None:
    state, _ = question(call("greet"))
    answer = call(**{"tool": "greet", **change}, requestState=state, inputResponses={"user_name": YES})
    assert answer["error"] == {"code": INVALID_PARAMS, "message": "`requestState` is of another call."}


@pytest.mark.parametrize("change", ["-TAMPERED", ""])
def test_a_state_that_was_changed_is_refused(change: str) -> None:
    state, _ = question(call("greet"))
    changed = state + change if change else state[1:]
    error = call("greet", requestState=changed, inputResponses={"user_name": YES})["error"]
    assert error == {"code": INVALID_PARAMS, "message": "`requestState` is none of ours."}


@pytest.mark.parametrize(
    "state",
    [
        *(5, "", "a", "a:b:c", [], {}, True),
        # It holds the moment, and workers that share the tests must know them by the same names.
        pytest.param(signing.dumps({"call": "", "asked": "", "answered": {}}), id="signed for something else"),
    ],
)
def test_a_state_that_we_have_not_signed_for_this_is_refused(state: object) -> None:
    assert call("greet", requestState=state)["error"]["code"] == INVALID_PARAMS


def test_an_answer_may_take_a_quarter_of_an_hour_and_is_asked_for_again_later() -> None:
    with time_machine.travel(NOW, tick=False):
        state, _ = question(call("greet"))
    with time_machine.travel(NOW + timedelta(minutes=15), tick=False):
        assert words(call("greet", requestState=state, inputResponses={"user_name": YES})) == "Hello, Ada!"
    with time_machine.travel(NOW + timedelta(minutes=15, seconds=1), tick=False):
        again, _ = question(call("greet", requestState=state, inputResponses={"user_name": YES}))
        assert words(call("greet", requestState=again, inputResponses={"user_name": YES})) == "Hello, Ada!"


def test_a_tool_that_asks_nothing_passes_over_what_comes_with_it() -> None:
    answer = call("echo", requestState="nonsense", inputResponses={"a": YES})
    assert answer["result"]["structuredContent"] == {"word": "a"}
