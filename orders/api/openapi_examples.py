"""Examples of orders for the OpenAPI document; tests send each request and compare the responses."""

from typing import Any

from drf_spectacular.utils import OpenApiExample

from framework.api.openapi.schema import EXAMPLE_DAY

NEW_ORDER: dict[str, Any] = {
    "customer_id": "cust_123",
    "items": [{"menu_item_id": "margherita", "quantity": 2, "notes": "no basil"}],
    "delivery_address": "1 Main St",
    "payment_method": "card",
}
PENDING: dict[str, Any] = {
    "id": "ord_01jd5k3v8rf8hb2m0c9t6w4y7z",
    "object": "order",
    "number": 42,
    "business_date": EXAMPLE_DAY,
    "status": "pending",
    "customer_id": "cust_123",
    "items": [
        {
            "menu_item_id": "margherita",
            "name": "Pizza Margherita",
            "quantity": 2,
            "notes": "no basil",
            "unit_price": "9.50",
            "line_total": "19.00",
        }
    ],
    "delivery_address": "1 Main St",
    "payment_method": "card",
    "currency": "EUR",
    "subtotal": "17.27",
    "tax": "1.73",
    "total": "19.00",
    "metadata": {},
    "version": 1,
    "created_at": f"{EXAMPLE_DAY}T18:04:05Z",
    "updated_at": f"{EXAMPLE_DAY}T18:04:05Z",
    "completed_at": None,
    "cancelled_at": None,
}
COMPLETED = PENDING | {
    "status": "completed",
    "version": 2,
    "updated_at": f"{EXAMPLE_DAY}T18:31:40Z",
    "completed_at": f"{EXAMPLE_DAY}T18:31:40Z",
}
PAGE = {
    "data": [PENDING],
    "pagination": {"page": 1, "limit": 1, "total": 137, "total_pages": 137, "has_more": True},
}

LIST = [OpenApiExample("The newest of 137", value=PAGE, response_only=True, status_codes=["200"])]
CREATE = [
    OpenApiExample("Two pizzas, delivered", value=NEW_ORDER, request_only=True),
    OpenApiExample("A pending order", value=PENDING, response_only=True, status_codes=["201"]),
]
RETRIEVE = [OpenApiExample("A pending order", value=PENDING, response_only=True, status_codes=["200"])]
SET_STATUS = [
    OpenApiExample("Complete the order", value={"status": "completed"}, request_only=True),
    OpenApiExample("A completed order", value=COMPLETED, response_only=True, status_codes=["200"]),
]
