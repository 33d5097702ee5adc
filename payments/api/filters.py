"""The parameters of GET /v1/payments."""

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


class DateOrTime(ParsedTextParam):
    """A day or a time, parsed to a datetime in UTC. With `is_end` a day is parsed to its end."""

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
        text = super().to_internal_value(data)
        found = parse_datetime(text)
        if self.is_end and re.fullmatch(DATE_PATTERN, text):
            # There is no day after 9999-12-31.
            return found + timedelta(days=1) if found.year < 9999 else found
        return found


class PaymentParameters(PageParams):
    """The parameters of GET /v1/payments."""

    limit = IntegerParam(required=False, default=20, min_value=1, max_value=100, help_text="Payments on a page.")
    state = ChoiceParam(choices=list(STATES), required=False, help_text="Only payments of this state.")
    product = ParsedTextParam(
        required=False,
        max_length=40,
        pattern=r"^[a-z0-9_]+(-[a-z0-9_]+)*$",
        hint="This must be the name of a product, as `GET /v1/me` lists them.",
        help_text="Only payments for this product, alone or with others.",
    )
    to = DateOrTime(
        is_end=True,
        required=False,
        help_text="Created before this time, or on this day or before it. Days are in UTC.",
    )

    def get_fields(self) -> dict[str, Any]:
        # `from` is a keyword of Python.
        fields = super().get_fields()
        first = DateOrTime(required=False, help_text="Created at this time or later, or on this day or later.")
        paged = {name: fields.pop(name) for name in ("limit", "cursor")}
        return {"state": fields.pop("state"), "product": fields.pop("product"), "from": first, **fields, **paged}
