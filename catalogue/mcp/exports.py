"""Tools for bulk exports."""

from dataclasses import replace
from typing import Any

from catalogue.exports import record, start
from catalogue.models import Export
from catalogue.serializers import ExportRecord, NewExport
from catalogue.tasks import ring_for_export
from config.api.fields import Shape
from config.api.refusal import InvalidRequest
from config.api.renderers import JSON
from config.mcp import schemas
from config.mcp.answers import Result
from config.mcp.schemas import Schema
from config.mcp.tools import Call, Tool, Values
from payments.callers import caller_of


class Wanted(Shape):
    """What start_export is told: the conditions of the filter stand beside the rest, as a model writes them."""

    def get_fields(self) -> dict[str, Any]:
        """The fields of NewExport; those of its filter are named, and read, as being in it."""
        fields: dict[str, Any] = NewExport().get_fields()
        conditions = fields.pop("filter").get_fields()
        return {**fields, **{f"filter.{name}": field for name, field in conditions.items()}}


def start_export(call: Call, asked: Values) -> Result:
    """An export that is under way."""
    caller = caller_of(call.request)
    wanted = {name: asked[name] for name in ("dataset", "format", "filter") if name in asked}
    try:
        export = start.start(start.exporter(caller), tier=caller.tier, now=call.now, **{"filter": {}, **wanted})
    except InvalidRequest as refusal:
        # Here the condition is an argument of its own.
        refusal.param = unfiltered(refusal.param)
        refusal.details = [replace(problem, param=unfiltered(problem.param)) for problem in refusal.details]
        raise
    ring_for_export(export)
    return shown(call, export)


def unfiltered(param: str | None) -> str | None:
    """The argument that a parameter of REST is."""
    return param.removeprefix("filter.") if param else None


def get_export(call: Call, asked: Values) -> Result:
    """How far an export is."""
    wallet = start.exporter(caller_of(call.request))
    return shown(call, record.find(wallet, asked["export_id"]))


def shown(call: Call, export: Export) -> Result:
    """The record of an export."""
    return Result(JSON().render(ExportRecord(record.show(export, now=call.now)).data))


def its_record() -> Schema:
    """The schema of the record of an export."""
    members = ("id", "status", "progress", "rows", "files", "manifest_url", "expires_at", "error")
    return schemas.result(
        "ExportRecord", only={"ExportRecord": members, "ExportFileRecord": ("name", "sha256", "url")}
    )


START_EXPORT = Tool(
    name="start_export",
    title="Export in bulk",
    description=(
        "Has workers write a whole dataset to files; follow it with get_export. For wallets on the Enterprise tier;"
        " nothing is charged, and at most three may be under way. While the same export is not finished, the same call"
        " gives that one."
    ),
    operation="create_export",
    takes={
        "dataset": "What is exported.",
        "format": "How its files are written.",
        "market": "Of this market alone: its slug.",
        "since": "Changed at this moment or later: 2026-11-21T19:30:00Z.",
        "status": "Of this status alone.",
    },
    needs=["dataset"],
    known_as={"market": "filter.market", "since": "filter.updated_since", "status": "filter.status"},
    reads=Wanted,
    gives=its_record,
    run=start_export,
    is_read_only=False,
    is_idempotent=False,
)

GET_EXPORT = Tool(
    name="get_export",
    title="Follow an export",
    description=(
        "The progress of an export of this wallet; once it has succeeded, its files with checksums and signed links"
        " that are good for an hour. For the Enterprise tier; nothing is charged."
    ),
    operation="get_export",
    takes={"export_id": "`id` of start_export: exp_ and 26 letters."},
    needs=["export_id"],
    known_as={"export_id": "id"},
    reads=None,
    gives=its_record,
    run=get_export,
)
