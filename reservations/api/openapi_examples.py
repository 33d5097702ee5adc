"""Examples of reservations for the OpenAPI document; tests send each and compare the answers."""

import json
from pathlib import Path
from typing import Any

from drf_spectacular.utils import OpenApiExample

from framework.api.openapi.schema import EXAMPLE_DAY

TEXT = Path(__file__).with_suffix(".json").read_text()
# Of a venue whose clock shows UTC.
VALUES: dict[str, Any] = json.loads(TEXT.replace("EXAMPLE_DAY", EXAMPLE_DAY))
CONFIRMED = VALUES["confirmed"]
PAGE = {"data": [CONFIRMED], **VALUES["page"]}
PENDING = CONFIRMED | VALUES["pending"]

LIST = [OpenApiExample("The only one", value=PAGE, response_only=True, status_codes=["200"])]
CREATE = [
    OpenApiExample("Four on Saturday evening", value=VALUES["new_reservation"], request_only=True),
    OpenApiExample("A table was free", value=CONFIRMED, response_only=True, status_codes=["201"]),
    OpenApiExample("The staff will look at it", value=PENDING, response_only=True, status_codes=["201"]),
]
RETRIEVE = [OpenApiExample("A confirmed reservation", value=CONFIRMED, response_only=True, status_codes=["200"])]
CHANGE = [
    OpenApiExample("Half an hour later", value=VALUES["changes"], request_only=True),
    OpenApiExample(
        "The table is free then, too", value=CONFIRMED | VALUES["changed"], response_only=True, status_codes=["200"]
    ),
]
CANCEL = [OpenApiExample("Cancelled", value=CONFIRMED | VALUES["cancelled"], response_only=True, status_codes=["200"])]

HOLD = [OpenApiExample("A table for ten minutes", value=VALUES["hold"], response_only=True, status_codes=["200"])]
HOLD_LIST = [
    OpenApiExample("The only one", value={"data": [VALUES["hold"]]}, response_only=True, status_codes=["200"])
]
CREATE_HOLD = [
    OpenApiExample("Four on Saturday evening", value=VALUES["new_hold"], request_only=True),
    OpenApiExample("A table for ten minutes", value=VALUES["hold"], response_only=True, status_codes=["201"]),
]
AVAILABILITY = [OpenApiExample("One day", value=VALUES["availability"], response_only=True, status_codes=["200"])]
