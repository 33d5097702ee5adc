"""Examples of reservations for the OpenAPI document; tests send each and compare the answers."""

from typing import Any

from drf_spectacular.utils import OpenApiExample

from framework.api.openapi.schema import EXAMPLE_DAY

NEW_RESERVATION: dict[str, Any] = {
    "customer_name": "Ada Lovelace",
    "customer_email": "ada@example.com",
    "customer_phone": "+15550100999",
    "date": EXAMPLE_DAY,
    "time": "19:30",
    "party_size": 4,
    "special_requests": "By the window, please",
}
CONFIRMED: dict[str, Any] = {
    "id": "res_01jd5k3v8rf8hb2m0c9t6w4y7z",
    "object": "reservation",
    "code": "K7QX2M",
    "status": "confirmed",
    "pending_reason": None,
    **NEW_RESERVATION,
    # A venue whose clock shows UTC.
    "starts_at": f"{EXAMPLE_DAY}T19:30:00Z",
    "ends_at": f"{EXAMPLE_DAY}T21:15:00Z",
    "tables": ["T4"],
    "metadata": {},
    "version": 1,
    "created_at": "2026-11-21T18:04:05Z",
    "updated_at": "2026-11-21T18:04:05Z",
    "cancelled_at": None,
}
PENDING = CONFIRMED | {"status": "pending", "pending_reason": "manual", "tables": []}
PAGE = {
    "data": [CONFIRMED],
    "pagination": {"page": 1, "limit": 1000, "total": 1, "total_pages": 1, "has_more": False},
}

LIST = [OpenApiExample("The only one", value=PAGE, response_only=True, status_codes=["200"])]
CREATE = [
    OpenApiExample("Four on Saturday evening", value=NEW_RESERVATION, request_only=True),
    OpenApiExample("A table was free", value=CONFIRMED, response_only=True, status_codes=["201"]),
    OpenApiExample("The staff will look at it", value=PENDING, response_only=True, status_codes=["201"]),
]
