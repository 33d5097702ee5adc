"""Sends messages to the MCP endpoint in both eras, calls its tools, and pays for them as the x402 client does."""

import itertools
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from django.test import Client
from jsonschema_rs import Draft202012Validator
from x402.schemas import PaymentPayload, PaymentRequired

from catalogue.mcp.server import SERVER
from catalogue.responses import NOTICE
from payments.devchain.wallets import Wallet
from payments.x402.proofs import PAYMENT_META
from tests.payments.buyer import client_of

Era = Literal["2025-11-25", "2025-06-18", "2025-03-26", "2026-07-28"]
STATELESS: Era = "2026-07-28"
LATEST_HANDSHAKE: Era = "2025-11-25"
ENDPOINT = "/mcp"
ERROR = "tablewire/error"
RECEIPT = "x402/payment-response"
TOKEN = "tablewire/receipt"
# Of 2026-07-28: a header that repeats what the body names.
NAMED_BY = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    **dict.fromkeys(("tasks/get", "tasks/update", "tasks/cancel"), "taskId"),
}
numbers = itertools.count(1)
# What a model cannot use: the ways of REST, and of HTTP.
FOREIGN = re.compile(r"\b(GET|POST|DELETE|PUT) /|\bDELETE\b|/v1/|query string|%2B|commas between|parameter|bbox")


def message(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    era: Era = LATEST_HANDSHAKE,
    meta: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] | None = None,
    is_notification: bool = False,
) -> tuple[dict[str, Any], dict[str, str]]:
    """The body and the headers of a POST that says this in that era, for whichever HTTP client sends it."""
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    if method != "initialize":
        headers["MCP-Protocol-Version"] = era
    reply = dict(params or {})
    beside = dict(meta or {})
    if era == STATELESS:
        beside = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": dict(capabilities or {}),
            **beside,
        }
        headers["Mcp-Method"] = method
        if name := reply.get(NAMED_BY.get(method, "")):
            headers["Mcp-Name"] = str(name)
    if beside:
        reply["_meta"] = beside
    body = {"jsonrpc": "2.0", "method": method, "params": reply}
    return body if is_notification else {**body, "id": next(numbers)}, headers


def post(
    client: Client,
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    era: Era = LATEST_HANDSHAKE,
    meta: Mapping[str, Any] | None = None,
    capabilities: Mapping[str, Any] | None = None,
    is_notification: bool = False,
    **headers: str,
) -> Any:
    """The whole HTTP answer. Further headers in Python's words: Authorization=..., X_Forwarded_For=..."""
    body, reply = message(
        method, params, era=era, meta=meta, capabilities=capabilities, is_notification=is_notification
    )
    reply.update({name.replace("_", "-"): value for name, value in headers.items()})
    kind = reply.pop("Content-Type")
    return client.post(ENDPOINT, json.dumps(body), content_type=kind, headers=reply)


def rpc(client: Client, method: str, params: Mapping[str, Any] | None = None, **rest: Any) -> Any:
    """The JSON that answers this message: `{"jsonrpc", "id", "result" | "error"}`. `rest` as of post."""
    return post(client, method, params, **rest).json()


def call(
    client: Client,
    tool: str,
    *,
    meta: Mapping[str, Any] | None = None,
    era: Era = LATEST_HANDSHAKE,
    capabilities: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
    **arguments: Any,
) -> Any:
    """The `result` of a call of a tool with these arguments."""
    answer = rpc(
        client,
        "tools/call",
        {"name": tool, "arguments": arguments},
        era=era,
        meta=meta,
        capabilities=capabilities,
        **(headers or {}),
    )
    assert "result" in answer, answer
    result = answer["result"]
    # Whatever a test is about: what a tool gives is what it has said that it gives.
    if "structuredContent" in result:
        of_results(tool).validate(result["structuredContent"])
    elif result.get("isError"):
        assert not FOREIGN.search(words_of(result)), words_of(result)
    return result


@cache
def of_results(tool: str) -> Draft202012Validator:
    """What judges the results of a tool, by the schema that is listed: it names every member that a result has."""
    return Draft202012Validator(closed(SERVER.tools_by_name[tool].output_schema))


def closed(schema: Any) -> Any:
    """The schema without members that it does not name. Each result has a `notice`, and prices are of x402."""
    if not isinstance(schema, dict):
        return schema
    result = {word: closed(value) for word, value in schema.items()}
    if "anyOf" in schema:
        return {**result, "anyOf": [closed(choice) for choice in schema["anyOf"]]}
    if "properties" in schema:
        properties = {name: closed(value) for name, value in schema["properties"].items()}
        return {**result, "properties": {"notice": {}, **properties}, "additionalProperties": False}
    return result


def refusal_of(result: Mapping[str, Any]) -> Any:
    """The REST error beside a refusal in band: code, message, param, request_id, details."""
    assert result["isError"] is True, result
    return result["_meta"][ERROR]


def content_of(result: Mapping[str, Any]) -> Any:
    """The content of a result, without the notice that begins it."""
    content = dict(result["structuredContent"])
    assert content.pop("notice") == NOTICE
    return content


def words_of(result: Mapping[str, Any]) -> str:
    """What a model reads of a result."""
    (content,) = result["content"]
    assert content["type"] == "text"
    return str(content["text"])


def price_of(result: Mapping[str, Any]) -> PaymentRequired:
    """What an unpaid call is asked for: twice the same, as structured content and as text."""
    assert result["isError"] is True, result
    assert json.loads(words_of(result)) == result["structuredContent"]
    return PaymentRequired.model_validate(result["structuredContent"])


def payment_for(wallet: Wallet, asked: PaymentRequired, *, identifier: str | None = None) -> dict[str, Any]:
    """The payment of version 2 that the official client makes of this, named so where it gets a name."""
    payload = client_of(wallet).create_payment_payload(asked)
    assert isinstance(payload, PaymentPayload)
    payment = payload.model_dump(mode="json", by_alias=True, exclude_none=True)
    if identifier is not None:
        payment["extensions"]["payment-identifier"]["info"]["id"] = identifier
    return payment


def quoted(client: Client, wallet: Wallet, tool: str, **rest: Any) -> dict[str, Any]:
    """The payment for this call, which was asked for once without it. `rest` as of call."""
    return payment_for(wallet, price_of(call(client, tool, **rest)))


def paid(client: Client, wallet: Wallet, tool: str, *, meta: Mapping[str, Any] | None = None, **rest: Any) -> Any:
    """The `result` of a call that this wallet pays for when it was told the price: two calls. `rest` as of call."""
    payment = quoted(client, wallet, tool, meta=meta, **rest)
    return call(client, tool, meta={**(meta or {}), PAYMENT_META: payment}, **rest)
