"""Elicitation (since 2026-07-28): a tool asks the user of the client for missing input.

The server keeps no state: the tool returns an `input_required` result, and the client calls again with the answer and
the `requestState` of that result. The tool then runs from its start and finds earlier answers in the state. The state
is signed, valid for ANSWER_TIMEOUT, and bound to caller, tool and arguments. All anonymous callers are one caller, so
the state holds only what was answered before, and an id: all rounds that began with one question share it, so that a
tool can act once on their answers.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from framework.errors import InvalidRequest
from framework.mcp.jsonrpc import INVALID_PARAMS, JSONRPCError
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.public_ids import new_id
from framework.signed_tokens import BadSignature, SignatureExpired, TokenSigner

SIGNER = TokenSigner("framework.mcp.elicitation")
ANSWER_TIMEOUT = timedelta(minutes=15)

# The content of each answer by the key of its question; None if the user declined.
Answers = Mapping[str, Mapping[str, Any] | None]


class ElicitationDeclined(InvalidRequest):
    """The user declined to answer."""


class ElicitationUnsupported(InvalidRequest):
    """The client does not support forms."""


class InputRequired(Exception):
    """Carries the `input_required` result from a tool to the server."""

    def __init__(self, result: ToolResult) -> None:
        super().__init__("input required")
        self.result = result


@dataclass(frozen=True, kw_only=True)
class Elicitation:
    """The questions and answers of one tool call.

    `caller` identifies the caller, or is empty. `responses` and `state` are `inputResponses` and `requestState`.
    """

    is_supported: bool
    caller: str
    tool: str
    arguments: Mapping[str, Any]
    responses: Any = None
    state: Any = None

    def ask(self, key: str, message: str, schema: Schema) -> Mapping[str, Any]:
        """Return the answer to this question, not validated.

        Raises InputRequired without an answer, ElicitationDeclined, ElicitationUnsupported, and JSONRPCError for a
        state of another call.
        """
        if not self.is_supported:
            raise ElicitationUnsupported(f"The client shows no forms, so this cannot be asked: {message}")
        if key not in self.answers:
            raise self.input_required(key, message, schema)
        answer = self.answers[key]
        if answer is None:
            text = "The person behind the call did not want to answer, so nothing was done."
            raise ElicitationDeclined(f"{text} Ask them before you call again.")
        return answer

    def input_required(self, key: str, message: str, schema: Schema) -> InputRequired:
        """The question, also to repeat it after an invalid answer."""
        request = {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": message, "requestedSchema": schema},
        }
        answered = {name: answer for name, answer in self.answers.items() if name != key}
        question_id = self.question_id or new_id().hex
        state = SIGNER.dump({"id": question_id, "call": self._call_digest, "asked": key, "answered": answered})
        return InputRequired(
            ToolResult(
                handle={
                    "resultType": "input_required",
                    "inputRequests": {key: request},
                    "requestState": state,
                }
            )
        )

    @property
    def question_id(self) -> str | None:
        """The id of the question that this call continues; None for a new call. Raises JSONRPCError."""
        return self._loaded_state.get("id")

    @cached_property
    def answers(self) -> Answers:
        """The answers of earlier rounds, and the one to the last question. Raises JSONRPCError."""
        answered: Answers = self._loaded_state.get("answered", {})
        asked = self._loaded_state.get("asked", "")
        match self.responses.get(asked) if isinstance(self.responses, dict) else None:
            case {"action": "accept", "content": dict() as content}:
                return {**answered, asked: content}
            case {"action": "decline" | "cancel"}:
                return {**answered, asked: None}
        return answered

    @cached_property
    def _loaded_state(self) -> Mapping[str, Any]:
        """The id, the answers of earlier rounds and the key of the last question; empty without a valid state."""
        if self.state is None:
            return {}
        try:
            if not isinstance(self.state, str):
                raise BadSignature
            state = SIGNER.load(self.state, max_age=ANSWER_TIMEOUT)
        except SignatureExpired:
            return {}
        except BadSignature as error:
            raise JSONRPCError(INVALID_PARAMS, "`requestState` is none of ours.") from error
        if state["call"] != self._call_digest:
            raise JSONRPCError(INVALID_PARAMS, "`requestState` is of another call.")
        return dict(state)

    @property
    def _call_digest(self) -> str:
        call = json.dumps([self.caller, self.tool, self.arguments], sort_keys=True)
        return hashlib.sha256(call.encode()).hexdigest()
