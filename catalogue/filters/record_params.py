"""The parameters of single records, of lists that are only paged, and of links."""

from typing import Any

from catalogue.filters.param_types import FieldGroups
from catalogue.hours.date_range import MOST_DAYS
from framework.api.fields import DateField, TextField
from framework.api.query_params.declarations import IntegerParam, QueryParams


class Selection(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}."""

    fields = FieldGroups(  # type: ignore[assignment]  # a name of the contract
        required=False,
        default=("core",),
        help_text="Field groups with commas between them, in any order. `core` is free, the others are paid for.",
    )


class Days(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/hours."""

    to = DateField(required=False, help_text=f"The last day, at most {MOST_DAYS} days in all; six days after `from`.")

    def get_fields(self) -> dict[str, Any]:
        """Add the parameter whose name is a word of Python."""
        first = DateField(required=False, help_text="The first day, on the restaurant's clock; today when left out.")
        return {"from": first, **super().get_fields()}


class Link(QueryParams):
    """What signs a link to a file. Without either of them a session has to come along."""

    until = IntegerParam(
        required=False, min_value=0, max_value=10**12, help_text="When the link is over, in Unix seconds."
    )
    signature = TextField(required=False, max_length=100, help_text="As the link in the record has it.")
