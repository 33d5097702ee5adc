"""Examples of events for the OpenAPI document."""

from drf_spectacular.utils import OpenApiExample

EVENT = {
    "id": "evt_01m8fnwywmet1vgb1eajpvcaa3",
    "type": "menu.item_sold_out",
    "timestamp": "2026-11-21T19:30:00Z",
    "data": {"id": "tiramisu", "object": "menu_item", "name": "Tiramisù", "price": "6.50", "sold_out": True},
}
EVENTS = [
    OpenApiExample(
        "The only one",
        value={
            "data": [EVENT],
            "pagination": {"limit": 100, "has_more": False, "next_cursor": "eyJ2IjoxfQ"},
        },
        response_only=True,
        status_codes=["200"],
    )
]
