"""Tools for bulk exports."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from catalogue.exports.requests import checkout, commands, representation
from catalogue.mcp import paywall
from catalogue.mcp.tools.declarations import declare
from catalogue.models import Export
from catalogue.serializers.exports import GROUPS, ExportRecord, NewExport
from catalogue.tasks import enqueue_export_step
from framework.api.fields import StrictSerializer
from framework.api.renderers import JSONRenderer
from framework.errors import InvalidRequest
from framework.mcp.responses import ToolResult
from framework.mcp.tasks import Status, Task
from framework.mcp.tools import ToolCall, Values
from payments.interface import Caller, Purchase, caller_of, parse_mcp_proof

SPEC_FIELDS = ("dataset", "format", "filter", "fields", "since_export")


class ExportArguments(StrictSerializer):
    """The arguments of start_export: NewExport with the conditions of its filter as arguments of their own."""

    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = NewExport().get_fields()
        conditions = fields.pop("filter").get_fields()
        return {**fields, **{f"filter.{name}": field for name, field in conditions.items()}}


def start_export(call: ToolCall, values: Values) -> ToolResult:
    try:
        ordered = checkout.order_export(
            caller_of(call.request),
            {name: values[name] for name in SPEC_FIELDS if name in values},
            purchase=Purchase.for_tool_call(call.tool, call.arguments),
            proof=parse_mcp_proof(call.meta),
            receipt_token=paywall.receipt_token(call),
            now=call.now,
        )
    except InvalidRequest as refusal:
        # Conditions of the filter are arguments of their own.
        refusal.param = _argument_name(refusal.param)
        refusal.details = [replace(problem, param=_argument_name(problem.param)) for problem in refusal.details]
        raise
    enqueue_export_step(ordered.export)
    result = _render(ordered.export, now=call.now)
    if ordered.receipt is not None:
        result = paywall.paid_result(result.body or b"", ordered.receipt, at=call.now)
    if not call.supports_tasks:
        return result
    return _task_of(ordered.export, caller_of(call.request), now=call.now).created(result)


def _argument_name(param: str | None) -> str | None:
    return param.removeprefix("filter.") if param else None


def get_export(call: ToolCall, values: Values) -> ToolResult:
    wallets = commands.require_wallets(caller_of(call.request))
    return _render(representation.find_export(wallets, values["export_id"]), now=call.now)


def _render(export: Export, *, now: datetime) -> ToolResult:
    return ToolResult(JSONRenderer().render(ExportRecord(representation.represent_export(export, now=now)).data))


class ExportTasks:
    """The exports of the caller's wallets as tasks, whose ids are theirs."""

    def get(self, request: HttpRequest, task_id: str) -> Task:
        """The task of an export. Raises ExportNotFound, and MissingCredentials without a wallet."""
        return _task_of(_find(request, task_id), caller_of(request), now=timezone.now())

    def cancel(self, request: HttpRequest, task_id: str) -> None:
        """Cancel an unfinished export, as DELETE /v1/exports/{id} does; one that has ended keeps its files."""
        export = _find(request, task_id)
        actor = f"wallet:{export.wallet_id}"
        commands.cancel_export(export, actor=actor, now=timezone.now(), expires_succeeded=False)


def _find(request: HttpRequest, task_id: str) -> Export:
    return representation.find_export(commands.require_wallets(caller_of(request)), task_id)


def _poll_interval(caller: Caller) -> timedelta:
    """The time between two polls, which take at most MAX_POLLING_SHARE of the caller's requests."""
    return max(MIN_POLL_INTERVAL, timedelta(minutes=1) / (caller.terms.per_minute * MAX_POLLING_SHARE))


def _task_of(export: Export, caller: Caller, *, now: datetime) -> Task:
    """An export as a task; its result is that of get_export.

    A failed one is completed with an error, because `failed` is for errors of the protocol. Only staff restart it.
    """
    shown = representation.represent_export(export, now=now)
    status, message = TASK_STATES[Export.Status(export.status)]
    result = None
    if status == "completed":
        body = JSONRenderer().render(ExportRecord(shown).data)
        result = ToolResult(body, is_error=export.status == Export.Status.FAILED)
    return Task(
        id=export.public_id,
        status=status,
        message=message.format(percent=int(shown.progress * 100)),
        created_at=export.created_at,
        updated_at=export.finished_at or export.snapshot_at or export.requested_at,
        ttl=None if export.expires_at is None else export.expires_at - export.created_at,
        poll_interval=_poll_interval(caller),
        result=result,
    )


MIN_POLL_INTERVAL = timedelta(seconds=5)
MAX_POLLING_SHARE = 0.4
TASK_STATES: Mapping[Export.Status, tuple[Status, str]] = {
    Export.Status.AWAITING_PAYMENT: ("working", "Waiting for its payment."),
    Export.Status.QUEUED: ("working", "Waiting for a worker."),
    Export.Status.RUNNING: ("working", "{percent} % of the files are written."),
    Export.Status.SUCCEEDED: ("completed", "The files are there."),
    Export.Status.EXPIRED: ("completed", "The files were there and are removed."),
    Export.Status.FAILED: ("completed", "It has failed; what was paid for it is paid back."),
    Export.Status.CANCELLED: ("cancelled", "It was cancelled; what was paid for it is paid back."),
}


START_EXPORT = declare(
    "start_export",
    start_export,
    serializer=ExportArguments,
    own_schemas={"fields": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(GROUPS)}}},
)
GET_EXPORT = declare("get_export", get_export, serializer=None)
