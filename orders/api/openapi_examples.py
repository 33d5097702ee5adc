"""Examples of orders for the OpenAPI document; tests send each request and compare the responses."""

import json
from pathlib import Path
from typing import Any

from drf_spectacular.utils import OpenApiExample

from framework.api.openapi.schema import EXAMPLE_DAY

TEXT = Path(__file__).with_suffix(".json").read_text()
VALUES: dict[str, Any] = json.loads(TEXT.replace("EXAMPLE_DAY", EXAMPLE_DAY))
PENDING = VALUES["pending"]
PAGE = {"data": [PENDING], **VALUES["page"]}
COMPLETED = PENDING | VALUES["completed"]
READY = PENDING | VALUES["ready"]

LIST = [OpenApiExample("The newest of 137", value=PAGE, response_only=True, status_codes=["200"])]
CREATE = [
    OpenApiExample("Two pizzas, delivered", value=VALUES["new_order"], request_only=True),
    OpenApiExample("A pending order", value=PENDING, response_only=True, status_codes=["201"]),
]
RETRIEVE = [OpenApiExample("A pending order", value=PENDING, response_only=True, status_codes=["200"])]
SET_STATUS = [
    OpenApiExample("Complete the order", value={"status": "completed"}, request_only=True),
    OpenApiExample("A completed order", value=COMPLETED, response_only=True, status_codes=["200"]),
]
SET_STAGE = [
    OpenApiExample("The order is ready", value={"stage": "ready"}, request_only=True),
    OpenApiExample("A pending order that is ready", value=READY, response_only=True, status_codes=["200"]),
]
MENU = [OpenApiExample("A menu of one dish", value=VALUES["menu"], response_only=True, status_codes=["200"])]
REPLACE_MENU = [
    OpenApiExample("A menu of one dish", value=VALUES["menu"], request_only=True),
    *MENU,
    OpenApiExample(
        "With dry_run: what would change", value=VALUES["menu_changes"], response_only=True, status_codes=["200"]
    ),
]
CHANGE_MENU_ITEM = [
    OpenApiExample("Twelve portions are left", value=VALUES["menu_item_changes"], request_only=True),
    OpenApiExample(
        "The dish", value=VALUES["menu"]["categories"][0]["items"][0], response_only=True, status_codes=["200"]
    ),
]
