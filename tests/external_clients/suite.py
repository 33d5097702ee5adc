"""A server of our protocol core with what the official conformance suite of MCP knows by name, as far as our core has
it: text, refusals, questions, tasks, resources and prompts. No catalogue stands behind it, and no database.
"""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from django.core.handlers.wsgi import WSGIRequest
from django.http import HttpRequest

from config.wsgi import application as product
from framework.errors import InvalidRequest, NotFound
from framework.mcp.resources import Completions, Prompt, PromptArgument, Resource
from framework.mcp.responses import ToolResult
from framework.mcp.server import Server, refusal_result
from framework.mcp.tasks import Status, Task
from framework.mcp.tools import ToolCall
from tests.mcp.server import answered, greet, paint, tool

SURE = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}


def simple(_call: ToolCall) -> ToolResult:
    """The text of the suite."""
    return ToolResult(text="This is a simple text response for testing.")


def fail(_call: ToolCall) -> ToolResult:
    """The refusal of the suite."""
    raise InvalidRequest("This tool intentionally returns an error for testing")


def sure(call: ToolCall) -> ToolResult:
    """Asks for a yes."""
    call.elicitation.ask("confirm", "Please confirm", SURE)
    return ToolResult(text="state-ok")


class Jobs:
    """Tasks in memory, which end by themselves when their time is over."""

    def __init__(self) -> None:
        self.ends: dict[str, datetime] = {}
        self.begun: dict[str, datetime] = {}
        self.results: dict[str, ToolResult] = {}
        self.cancelled: set[str] = set()

    def begin(self, call: ToolCall, result: ToolResult, *, seconds: float) -> ToolResult:
        """A task that ends with this result; the result at once for a client that takes no tasks."""
        if not call.supports_tasks:
            return result
        id_ = uuid4().hex
        self.begun[id_], self.ends[id_] = call.now, call.now + timedelta(seconds=seconds)
        self.results[id_] = result
        return self.get(call.request, id_).created(result)

    def get(self, _request: HttpRequest, task_id: str) -> Task:
        if task_id not in self.ends:
            raise NotFound("There is no such job.")
        is_over = self.ends[task_id] <= datetime.now(UTC)
        status: Status = "cancelled" if task_id in self.cancelled else "completed" if is_over else "working"
        return Task(
            id=task_id,
            status=status,
            message="As it is.",
            created_at=self.begun[task_id],
            updated_at=self.begun[task_id],
            ttl=timedelta(hours=1),
            poll_interval=timedelta(seconds=0.1),
            result=self.results[task_id] if status == "completed" else None,
        )

    def cancel(self, request: HttpRequest, task_id: str) -> None:
        if self.get(request, task_id).status == "working":
            self.cancelled.add(task_id)


JOBS = Jobs()


def hello(call: ToolCall) -> ToolResult:
    """Greets at once."""
    return ToolResult(text=f"Hello, {call.arguments['name']}!")


def compute(call: ToolCall) -> ToolResult:
    """Takes some seconds."""
    return JOBS.begin(call, ToolResult(text="Computed."), seconds=call.arguments["seconds"])


def fail_later(call: ToolCall) -> ToolResult:
    """Ends with an error."""
    return JOBS.begin(call, ToolResult(text="It has failed.", is_error=True), seconds=0.3)


def templated(_request: object, **names: str) -> bytes:
    """The resource of the suite that is filled in."""
    return json.dumps({"id": names["id"], "templateTest": True, "data": f"Data for ID: {names['id']}"}).encode()


def words(*_: object) -> Completions:
    """What an argument may be."""
    return Completions(["paris", "park", "party"])


SERVER = Server(
    name="suite",
    title="Suite",
    version="1.0.0",
    description="What the official suite knows by name.",
    website=lambda: "https://suite.example",
    instructions="Be tested.",
    tools=[
        tool("test_simple_text", simple),
        tool("test_error_handling", fail),
        # It logs nothing, and its stream has nothing but its answer.
        tool("test_logging_tool", simple),
        tool("test_streaming_elicitation", greet),
        tool("test_input_required_result_elicitation", greet),
        tool("test_input_required_result_request_state", sure),
        tool("test_input_required_result_tampered_state", sure),
        tool("test_input_required_result_multi_round", paint),
        tool("greet", hello, arguments={"name": {"type": "string"}}),
        tool("slow_compute", compute, arguments={"seconds": {"type": "number"}, "label": {"type": "string"}}),
        tool("failing_job", fail_later),
    ],
    tasks=JOBS,
    resources=[
        Resource(
            uri="test://static-text",
            name="static-text",
            title="Text",
            description="The text of the suite.",
            mime_type="text/plain",
            read=lambda _request: b"This is the content of the static text resource.",
        ),
        Resource(
            uri="test://template/{id}/data",
            name="template",
            title="Template",
            description="The template of the suite.",
            read=templated,
        ),
    ],
    prompts=[
        Prompt(
            name="test_simple_prompt",
            title="Simple",
            description="The prompt of the suite.",
            arguments=[],
            render=lambda _given: "This is a simple prompt for testing.",
        ),
        Prompt(
            name="test_prompt_with_arguments",
            title="With arguments",
            description="The prompt of the suite that is filled in.",
            arguments=[
                PromptArgument(name=name, description=name, is_required=True, complete=words)
                for name in ("arg1", "arg2")
            ],
            render=lambda given: f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'",
        ),
    ],
    refusal_result=lambda _call, refusal: refusal_result(refusal, request_id="req_suite"),
    caller_name=lambda _request: "suite",
)


def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """The server for WSGI; what is no message for it the product answers."""
    if environ["REQUEST_METHOD"] != "POST":
        return product(environ, start_response)
    answer = answered(WSGIRequest(environ), by=SERVER)
    start_response(f"{answer.status_code} {answer.reason_phrase}", list(answer.items()))
    return [answer.content]
