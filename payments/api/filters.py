"""The parameters of the list of payments."""

import re
from datetime import timedelta
from typing import Any

from framework.api.query_params.declarations import (
    DATE_PATTERN,
    DATETIME_PATTERN,
    ChoiceParam,
    IntegerParam,
    PageParams,
    ParsedTextParam,
    parse_datetime,
)
from payments.ledger.payment_history import STATES


class Bound(ParsedTextParam):
    """A day or a moment; read as a datetime in UTC. Where `is_end`, a day is read as its end."""

    def __init__(self, *, is_end: bool = False, **options: Any) -> None:
        self.is_end = is_end
        super().__init__(
            pattern=f"^({DATE_PATTERN}|{DATETIME_PATTERN})$",
            max_length=40,
            hint="This must be a day like 2026-11-21 or a moment like 2026-11-21T19:30:00Z; write the + of an offset"
            " as %2B.",
            **options,
        )

    def to_internal_value(self, data: Any) -> Any:
        """Return the moment."""
        text = super().to_internal_value(data)
        found = parse_datetime(text)
        if self.is_end and re.fullmatch(DATE_PATTERN, text):
            # The calendar's last day has no next one.
            return found + timedelta(days=1) if found.year < 9999 else found
        return found


class Ledger(PageParams):
    """The parameters of GET /v1/payments."""

    limit = IntegerParam(required=False, default=20, min_value=1, max_value=100, help_text="Payments on a page.")
    state = ChoiceParam(choices=list(STATES), required=False, help_text="Only payments of this state.")
    product = ParsedTextParam(
        required=False,
        max_length=40,
        pattern=r"^[a-z0-9_]+(-[a-z0-9_]+)*$",
        hint="This must be the name of a product, as `GET /v1/me` lists them.",
        help_text="Only payments that have bought this product, alone or with others.",
    )
    to = Bound(
        is_end=True,
        required=False,
        help_text="Made before this moment, or on this day or before it. Days are those of UTC.",
    )

    def get_fields(self) -> dict[str, Any]:
        """Add the parameter whose name is a word of Python."""
        fields = super().get_fields()
        first = Bound(required=False, help_text="Made at this moment or later, or on this day or later.")
        paged = {name: fields.pop(name) for name in ("limit", "cursor")}
        return {"state": fields.pop("state"), "product": fields.pop("product"), "from": first, **fields, **paged}
