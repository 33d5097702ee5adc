"""Tools for bulk exports."""

from dataclasses import replace
from typing import Any

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
from framework.mcp.tools import ToolCall, Values
from payments.interface import Purchase, caller_of, parse_mcp_proof

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
    result = _render(call, ordered.export)
    return result if ordered.receipt is None else paywall.paid_result(result.body or b"", ordered.receipt, at=call.now)


def _argument_name(param: str | None) -> str | None:
    return param.removeprefix("filter.") if param else None


def get_export(call: ToolCall, values: Values) -> ToolResult:
    wallet = commands.require_wallet(caller_of(call.request))
    return _render(call, representation.find_export([wallet], values["export_id"]))


def _render(call: ToolCall, export: Export) -> ToolResult:
    return ToolResult(JSONRenderer().render(ExportRecord(representation.represent_export(export, now=call.now)).data))


START_EXPORT = declare(
    "start_export",
    start_export,
    serializer=ExportArguments,
    own_schemas={"fields": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(GROUPS)}}},
)
GET_EXPORT = declare("get_export", get_export, serializer=None)
