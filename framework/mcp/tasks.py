"""Tasks (extension of 2026-07-28): a tool answers with a handle, and the client polls for its result.

The server decides which calls become tasks, for clients that declare the extension. It keeps nothing itself: tasks are
rows of the app, found by `TaskStore`.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from django.http import HttpRequest

from framework.mcp.responses import ToolResult

EXTENSION = "io.modelcontextprotocol/tasks"
GET, UPDATE, CANCEL = METHODS = ("tasks/get", "tasks/update", "tasks/cancel")

Status = Literal["working", "completed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task; `result` is that of the tool call once it is completed.

    `ttl` is counted from its creation; None while its end is not known.
    """

    id: str
    status: Status
    message: str
    created_at: datetime
    updated_at: datetime
    ttl: timedelta | None
    poll_interval: timedelta
    result: ToolResult | None = None

    def to_json(self) -> dict[str, Any]:
        """The members of `Task`, without the result."""
        return {
            "taskId": self.id,
            "status": self.status,
            "statusMessage": self.message,
            "createdAt": self.created_at,
            "lastUpdatedAt": self.updated_at,
            "ttlMs": None if self.ttl is None else self.ttl // timedelta(milliseconds=1),
            "pollIntervalMs": self.poll_interval // timedelta(milliseconds=1),
        }

    def created(self, result: ToolResult) -> ToolResult:
        """The handle instead of `result`, whose `_meta` it keeps."""
        return ToolResult(handle={"resultType": "task", **self.to_json()}, meta=result.meta, on_sent=result.on_sent)

    def detailed(self) -> dict[str, Any]:
        """The result of tasks/get."""
        result = {} if self.result is None else {"result": self.result.to_json()}
        return {**self.to_json(), **result}


class TaskStore(Protocol):
    """The tasks of an app. Both raise NotFound for tasks of others, too."""

    def get(self, request: HttpRequest, task_id: str) -> Task:
        """The task of this id, of the caller."""

    def cancel(self, request: HttpRequest, task_id: str) -> None:
        """Cancel the task of this id unless it has ended."""
