"""Asks the person behind the caller for what a tool lacks (elicitation, since 2026-07-28).

Nothing waits: the tool's answer is a question, and the caller calls again with the answer and the state that came with
the question. The tool then runs from its beginning, and finds in the state what was answered to its questions before.
The state is signed, and good for this tool and these arguments, for a while, and for this caller: those who have no
name are one caller, and it holds nothing but what was answered before.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Any

from framework.errors import InvalidRequest
from framework.mcp.jsonrpc import INVALID_PARAMS, Fault
from framework.mcp.responses import Result
from framework.mcp.schemas import Schema
from framework.signed_tokens import BadSignature, SignatureExpired, TokenSigner

SIGNER = TokenSigner("framework.mcp.elicitation")
ANSWERED_WITHIN = timedelta(minutes=15)

# What was answered to each question, by its key; None where the person did not want to.
Answers = Mapping[str, Mapping[str, Any] | None]


class Declined(InvalidRequest):
    """The person does not want to answer."""


class NobodyToAsk(InvalidRequest):
    """The caller shows no forms to a person."""


class Asked(Exception):
    """Nothing but the way from a tool to its caller: `result` is the question."""

    def __init__(self, result: Result) -> None:
        super().__init__("asked")
        self.result = result


@dataclass(frozen=True, kw_only=True)
class Asker:
    """The questions of one call; `can_ask` where its caller shows forms to a person.

    `caller` is whoever calls, in a word that tells them apart, or no word; `told` are the arguments; `responses` and
    `state` are what came with the call.
    """

    can_ask: bool
    caller: str
    tool: str
    told: Mapping[str, Any]
    responses: Any = None
    state: Any = None

    def ask(self, key: str, message: str, schema: Schema) -> Mapping[str, Any]:
        """What the person has answered to this question, as it came: judge it.

        Raises Asked where there is no answer yet, Declined, NobodyToAsk, and Fault for a state that is not of this
        call.
        """
        if not self.can_ask:
            raise NobodyToAsk(f"The client shows no forms, so this cannot be asked: {message}")
        if key not in self.answers:
            raise self.again(key, message, schema)
        answer = self.answers[key]
        if answer is None:
            words = "The person behind the call did not want to answer, so nothing was done."
            raise Declined(f"{words} Ask them before you call again.")
        return answer

    def again(self, key: str, message: str, schema: Schema) -> Asked:
        """The question, also where the answer that came to it cannot be used."""
        asked = {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": message, "requestedSchema": schema},
        }
        answered = {name: answer for name, answer in self.answers.items() if name != key}
        state = SIGNER.dump({"call": self.digest, "asked": key, "answered": answered})
        return Asked(
            Result(asks={"resultType": "input_required", "inputRequests": {key: asked}, "requestState": state})
        )

    @cached_property
    def answers(self) -> Answers:
        """What was answered in the rounds before, and to the question of the last; answers to others are passed over.

        Raises Fault for a state that is none of ours.
        """
        answered, asked = self.before()
        match self.responses.get(asked) if isinstance(self.responses, dict) else None:
            case {"action": "accept", "content": dict() as content}:
                return {**answered, asked: content}
            case {"action": "decline" | "cancel"}:
                return {**answered, asked: None}
        return answered

    def before(self) -> tuple[Answers, str]:
        """The answers of the rounds before the last, and what was asked in the last: nothing where there was none, or
        where it is too long ago. Raises Fault.
        """
        if self.state is None:
            return {}, ""
        try:
            if not isinstance(self.state, str):
                raise BadSignature
            state = SIGNER.load(self.state, max_age=ANSWERED_WITHIN)
        except SignatureExpired:
            return {}, ""
        except BadSignature as error:
            raise Fault(INVALID_PARAMS, "`requestState` is none of ours.") from error
        if state["call"] != self.digest:
            raise Fault(INVALID_PARAMS, "`requestState` is of another call.")
        return state["answered"], state["asked"]

    @property
    def digest(self) -> str:
        """What tells this call from others: SHA-256 of its caller, tool and arguments."""
        told = json.dumps([self.caller, self.tool, self.told], sort_keys=True)
        return hashlib.sha256(told.encode()).hexdigest()
