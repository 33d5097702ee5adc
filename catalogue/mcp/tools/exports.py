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
from framework.mcp.responses import Result
from framework.mcp.schemas import Schema
from framework.mcp.tools import Call, Tool, Values
from payments import x402
from payments.identity.caller import caller_of
from payments.x402.purchase import Purchase

WANTED = ("dataset", "format", "filter", "fields", "since_export")


class Wanted(StrictSerializer):
    """What start_export is told: the conditions of the filter stand beside the rest, as a model writes them."""

    def get_fields(self) -> dict[str, Any]:
        """The fields of NewExport; those of its filter are named, and read, as being in it."""
        fields: dict[str, Any] = NewExport().get_fields()
        conditions = fields.pop("filter").get_fields()
        return {**fields, **{f"filter.{name}": field for name, field in conditions.items()}}


def start_export(call: Call, asked: Values) -> Result:
    """An export that is under way."""
    try:
        ordered = checkout.order_export(
            caller_of(call.request),
            {name: asked[name] for name in WANTED if name in asked},
            purchase=Purchase.for_tool_call(call.tool, call.told),
            proof=x402.parse_mcp_proof(call.meta),
            receipt_token=paywall.token_of(call),
            now=call.now,
        )
    except InvalidRequest as refusal:
        # Here the condition is an argument of its own.
        refusal.param = unfiltered(refusal.param)
        refusal.details = [replace(problem, param=unfiltered(problem.param)) for problem in refusal.details]
        raise
    enqueue_export_step(ordered.export)
    result = shown(call, ordered.export)
    return result if ordered.receipt is None else paywall.paid(result.body or b"", ordered.receipt)


def unfiltered(param: str | None) -> str | None:
    """The argument that a parameter of REST is."""
    return param.removeprefix("filter.") if param else None


def get_export(call: Call, asked: Values) -> Result:
    """How far an export is."""
    wallet = commands.require_wallet(caller_of(call.request))
    return shown(call, representation.find_export(wallet, asked["export_id"]))


def shown(call: Call, export: Export) -> Result:
    """The record of an export."""
    return Result(JSONRenderer().render(ExportRecord(representation.represent_export(export, now=call.now)).data))


def its_record() -> Schema:
    """The schema of the record of an export."""
    members = ("id", "status", "progress", "rows", "files", "manifest_url", "expires_at", "error")
    return schemas.result(
        "ExportRecord", only={"ExportRecord": members, "ExportFileRecord": ("name", "kind", "sha256", "url")}
    )


def its_beginning() -> Schema:
    """The schema of the record of an export that has no files yet."""
    return schemas.result("ExportRecord", only={"ExportRecord": ("id", "status")})


START_EXPORT = Tool(
    name="start_export",
    title="Export in bulk",
    description=(
        "Has workers write a dataset to files; follow it with get_export. Paid for by x402, by wallets on the"
        " Enterprise tier: an unpaid call tells the price; what fails is paid back. The same call shows the one under"
        " way."
    ),
    operation="create_export",
    takes={
        "dataset": "What is exported.",
        "format": "jsonl.gz has all that the other tools say; the others are flat tables.",
        "fields": "Of restaurants, beside core.",
        "market": "Of this market alone: its slug.",
        "since": "Changed at this moment or later: 2026-11-21T19:30:00Z.",
        "status": "Of this status alone.",
        "since_export": "ex_... of one like this that has succeeded: only what changed since, and which ids are gone.",
    },
    # The words say the form in fewer letters.
    beside={
        "fields": {"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(GROUPS)}},
        "since_export": {"type": "string"},
    },
    needs=["dataset"],
    known_as={"market": "filter.market", "since": "filter.updated_since", "status": "filter.status"},
    reads=Wanted,
    gives=its_beginning,
    or_gives=paywall.PRICE,
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
    takes={"export_id": "`id` of start_export: ex_..."},
    needs=["export_id"],
    known_as={"export_id": "id"},
    reads=None,
    gives=its_record,
    run=get_export,
)
