"""Parameters of single restaurants, opening hours and download links."""

from typing import Any

from catalogue.filters.param_types import FieldGroups
from catalogue.hours.date_range import MAX_DAYS
from framework.api.fields import DateField, TextField
from framework.api.query_params.declarations import IntegerParam, QueryParams


class Selection(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}."""

    fields = FieldGroups(  # type: ignore[assignment]  # a name of the contract
        required=False,
        default=("core",),
        help_text="Field groups separated by commas, in any order. `core` is free, the others are paid.",
    )


class HoursParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/hours."""

    to = DateField(
        required=False, help_text=f"The last day, at most {MAX_DAYS} days in all; by default six days after `from`."
    )

    def get_fields(self) -> dict[str, Any]:
        first = DateField(required=False, help_text="The first day in local time; by default today.")
        return {"from": first, **super().get_fields()}


class DownloadParams(QueryParams):
    """The signature of a download link. Without it the request needs a session."""

    until = IntegerParam(
        required=False, min_value=0, max_value=10**12, help_text="When the link expires, in Unix seconds."
    )
    signature = TextField(required=False, max_length=100, help_text="The signature in the link of the record.")
