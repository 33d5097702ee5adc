"""Tools for bulk exports."""

from dataclasses import replace
from typing import Any

from catalogue.exports.requests import checkout, commands, representation
from catalogue.mcp import paywall
from catalogue.models import Export
from catalogue.serializers import ExportRecord, NewExport
from catalogue.serializers.exports import GROUPS
from catalogue.tasks import enqueue_export_step
from framework.api.fields import StrictSerializer
from framework.api.renderers import JSONRenderer
from framework.errors import InvalidRequest
from framework.mcp import schemas
from framework.mcp.responses import ToolResult
from framework.mcp.schemas import Schema
from framework.mcp.tools import Tool, ToolCall, Values
from payments.interface import Purchase, caller_of, parse_mcp_proof

SPEC_FIELDS = ("dataset", "format", "filter", "fields", "since_export")


class ExportArguments(StrictSerializer):
    """The arguments of start_export: NewExport with the conditions of its filter as arguments of their own."""

    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = NewExport().get_fields()
        conditions = fields.pop("filter").get_fields()
        return {**fields, **{f"filter.{name}": field for name, field in conditions.items()}}


def start_export(call: ToolCall, values: Values) -> ToolResult:
    """Start an export."""
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
    result = _render(call, ordered.export)
    return result if ordered.receipt is None else paywall.paid_result(result.body or b"", ordered.receipt)


def _argument_name(param: str | None) -> str | None:
    return param.removeprefix("filter.") if param else None


def get_export(call: ToolCall, values: Values) -> ToolResult:
    """Show the progress of an export."""
    wallet = commands.require_wallet(caller_of(call.request))
    return _render(call, representation.find_export([wallet], values["export_id"]))


def _render(call: ToolCall, export: Export) -> ToolResult:
    return ToolResult(JSONRenderer().render(ExportRecord(representation.represent_export(export, now=call.now)).data))


def _export_schema() -> Schema:
    members = ("id", "status", "progress", "rows", "files", "manifest_url", "expires_at", "error")
    return schemas.result_schema(
        "ExportRecord", only={"ExportRecord": members, "ExportFileRecord": ("name", "kind", "sha256", "url")}
    )


START_EXPORT = Tool(
    name="start_export",
    title="Export in bulk",
    description=(
        "Has workers write a dataset to files; follow it with get_export. Paid for by x402, by wallets on the"
        " Enterprise tier: an unpaid call tells the price; what fails is paid back. The same call shows the one under"
        " way."
    ),
    operation="create_export",
    arguments={
        "dataset": "What is exported.",
        "format": "jsonl.gz has all that the other tools say; the others are flat tables.",
        "fields": "Of restaurants, beside core.",
        "market": "Of this market alone: its slug.",
        "since": "Changed at this moment or later: 2026-11-21T19:30:00Z.",
        "status": "Of this status alone.",
        "since_export": "ex_... of one like this that has succeeded: only what changed since, and which ids are gone.",
    },
    # The descriptions say the format in fewer tokens than the schemas of the operation.
    own_schemas={
        "fields": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(GROUPS)}},
        "since_export": {"type": "string"},
    },
    required=["dataset"],
    aliases={"market": "filter.market", "since": "filter.updated_since", "status": "filter.status"},
    serializer=ExportArguments,
    output=lambda: schemas.result_schema("ExportRecord", only={"ExportRecord": ("id", "status")}),
    alternative_output=paywall.PRICE,
    run=start_export,
    is_read_only=False,
    is_idempotent=False,
)

GET_EXPORT = Tool(
    name="get_export",
    title="Follow an export",
    description=(
        "The progress of an export of this wallet; once it has succeeded, its files with checksums and signed links"
        " that are good for an hour. Free."
    ),
    operation="get_export",
    arguments={"export_id": "`id` of start_export: ex_..."},
    required=["export_id"],
    aliases={"export_id": "id"},
    serializer=None,
    output=_export_schema,
    run=get_export,
)
