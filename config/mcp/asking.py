"""Asks the person behind the caller for what a tool lacks (elicitation, since 2026-07-28).

Nothing waits: the tool's answer is a question, and the caller calls again with the answer and the state that came with
the question. The state is signed, and good for this caller, this tool and these arguments, for a while.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import orjson
from django.core import signing

from config.api.refusal import InvalidRequest
from config.mcp.answers import Result
from config.mcp.messages import INVALID_PARAMS, Fault
from config.mcp.schemas import Schema

SALT = "config.mcp.asking"
ANSWERED_WITHIN = timedelta(minutes=15)


class Declined(InvalidRequest):
    """The person does not want to answer."""


class Asked(Exception):
    """Nothing but the way from a tool to its caller: `result` is the question."""

    def __init__(self, result: Result) -> None:
        super().__init__("asked")
        self.result = result


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """The questions of one call; `can_ask` where its caller shows forms to a person.

    `caller` is whoever calls, in a word that tells them apart; `responses` and `state` are what came with the call.
    """

    can_ask: bool
    caller: str
    tool: str
    told: Mapping[str, Any]
    responses: Any = None
    state: Any = None

    def ask(self, key: str, message: str, schema: Schema) -> Mapping[str, Any]:
        """What the person has answered to this question, as it came: judge it.

        Raises Asked where it has not been put yet, Declined, and Fault for a state that is not of this call.
        """
        if self.state is None or not self.is_ours(key):
            raise self.question(key, message, schema)
        response = self.responses.get(key) if isinstance(self.responses, dict) else None
        if not isinstance(response, dict):
            raise self.question(key, message, schema)
        if response.get("action") in ("decline", "cancel"):
            raise Declined("The person behind the call did not want to answer. Nothing was done.")
        content = response.get("content")
        if response.get("action") != "accept" or not isinstance(content, dict):
            raise self.question(key, message, schema)
        return content

    def again(self, key: str, message: str, schema: Schema) -> Asked:
        """The same question once more, where the answer to it cannot be used."""
        return self.question(key, message, schema)

    def question(self, key: str, message: str, schema: Schema) -> Asked:
        """What sends the question on its way."""
        asked = {
            "method": "elicitation/create",
            "params": {"mode": "form", "message": message, "requestedSchema": schema},
        }
        state = signing.dumps({"key": key, "call": self.digest}, salt=SALT)
        return Asked(
            Result(asks={"resultType": "input_required", "inputRequests": {key: asked}, "requestState": state})
        )

    def is_ours(self, key: str) -> bool:
        """Whether the state that came is of this question, and not too old. Raises Fault where it is forged."""
        try:
            if not isinstance(self.state, str):
                raise signing.BadSignature
            state = signing.loads(self.state, salt=SALT, max_age=ANSWERED_WITHIN)
        except signing.SignatureExpired:
            return False
        except signing.BadSignature as error:
            raise Fault(INVALID_PARAMS, "`requestState` is none of ours.") from error
        if state["call"] != self.digest:
            raise Fault(INVALID_PARAMS, "`requestState` is of another call.")
        return bool(state["key"] == key)

    @property
    def digest(self) -> str:
        """What tells this call from others: SHA-256 of its caller, tool and arguments."""
        told = orjson.dumps([self.caller, self.tool, self.told], option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(told).hexdigest()
