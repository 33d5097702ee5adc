"""The protocol alone: a small server of our core, with tools that only ask, read and break, and no catalogue."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.handlers.wsgi import WSGIRequest
from django.test import RequestFactory

from framework.mcp import jsonrpc, responses
from framework.mcp.jsonrpc import JSONRPCError
from framework.mcp.resources import Completions, Prompt, PromptArgument, Resource
from framework.mcp.responses import MCPResponse, ToolResult
from framework.mcp.server import Server, refusal_result
from framework.mcp.tools import Tool, ToolCall
from tests.mcp import client

NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
COLOR = {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}


WORD: Mapping[str, Any] = {"word": {"type": "string"}}


def tool(name: str, run: Callable[[ToolCall], ToolResult], *, arguments: Mapping[str, dict[str, Any]] = WORD) -> Tool:
    """A tool that takes at most these arguments."""
    return Tool(
        name=name,
        title=name,
        description=name,
        # Nothing of it is used, as its one argument stands beside it.
        operation="search_landmarks",
        arguments=dict.fromkeys(arguments, "Any."),
        own_schemas=arguments,
        serializer=None,
        output=lambda: {"type": "object"},
        run=lambda call, asked: run(call),
    )


def echo(call: ToolCall) -> ToolResult:
    """The word."""
    return ToolResult(json.dumps({"word": call.arguments.get("word", "")}).encode())


def greet(call: ToolCall) -> ToolResult:
    """Asks for a name; one that is empty it asks for again."""
    name = call.elicitation.ask("user_name", "What is your name?", NAME).get("name")
    if not name:
        raise call.elicitation.input_required("user_name", "What is your name? It cannot be empty.", NAME)
    return ToolResult(text=f"Hello, {name}!")


def paint(call: ToolCall) -> ToolResult:
    """Asks twice, one after the other."""
    name = call.elicitation.ask("step1", "What is your name?", NAME)["name"]
    color = call.elicitation.ask("step2", "What is your favorite color?", COLOR)["color"]
    return ToolResult(text=f"{name} likes {color}.")


def crash(call: ToolCall) -> ToolResult:
    """Breaks in a way that nobody foresaw."""
    raise RuntimeError(call.tool)


def words(_request: object, typed: str, others: Mapping[str, str]) -> Completions:
    """What can be typed, and what is filled in beside it."""
    return Completions([*(word for word in ("paris", "park", "party") if word.startswith(typed)), *others.values()])


def broken(_request: object) -> bytes:
    """Breaks in a way that nobody foresaw."""
    raise RuntimeError("broken")


SERVER = Server(
    name="small",
    title="Small",
    version="1.2.3",
    description="A small server.",
    website=lambda: "https://small.example",
    instructions="Be small.",
    tools=[
        tool("echo", echo),
        tool("greet", greet),
        tool("paint", paint),
        tool("crash", crash),
    ],
    resources=[
        Resource(uri="small://one", name="one", title="One", description="One.", read=lambda _request: b'{"one":1}'),
        Resource(uri="small://broken", name="broken", title="Broken", description="Broken.", read=broken),
        Resource(
            uri="small://word/{word}",
            name="word",
            title="Word",
            description="A word.",
            read=lambda _request, *, word: json.dumps(word).encode(),
            completers={"word": words},
        ),
    ],
    prompts=[
        Prompt(
            name="begin",
            title="Begin",
            description="Begins.",
            arguments=[
                PromptArgument(name="word", description="Any.", is_required=True, complete=words),
                PromptArgument(name="more", description="More."),
            ],
            render=lambda given: f"Begin with {given['word']}.",
        )
    ],
    refusal_result=lambda call, refusal: refusal_result(refusal, request_id="req_small"),
    caller_name=lambda request: request.META.get("HTTP_X_CALLER", "nobody"),
)


def answered(request: WSGIRequest, *, by: Server = SERVER) -> MCPResponse:
    """What the server says to this request."""
    try:
        message = jsonrpc.read_message(request)
    except JSONRPCError as fault:
        return responses.error_response(fault, id_=fault.id)
    return by.handle(request, message)


def asked(
    method: str,
    params: Mapping[str, Any] | None = None,
    *,
    headers: Mapping[str, str | None] | None = None,
    **rest: Any,
) -> MCPResponse:
    """What the server says to this message. `headers` beside those of the era, without those that are None; `rest` as
    of calling.message.
    """
    body, result = client.message(method, params, **rest)
    return sent(json.dumps(body).encode(), {**result, **(headers or {})})


def sent(body: bytes, headers: Mapping[str, str | None], **environ: Any) -> MCPResponse:
    """What the server says to these bytes."""
    stored = {name: value for name, value in headers.items() if value is not None}
    kind = stored.pop("Content-Type", "application/json")
    return answered(RequestFactory().post("/mcp", body, content_type=kind, headers=stored, **environ))


def response_json(answer: MCPResponse) -> Any:
    """The JSON of an answer."""
    return json.loads(answer.content)
