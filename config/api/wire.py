"""How both APIs speak HTTP, as the libraries' settings want it told: config/settings.py takes every name from here."""

from typing import Any

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["framework.api.json_parser.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["framework.api.renderers.JSON"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "framework.api.renderers.OnlyJSON",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "framework.api.openapi.schema.Operation",
    "EXCEPTION_HANDLER": "framework.api.error_handler.handle",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
    # Whole seconds: what people write and read.
    "DATETIME_FORMAT": "%Y-%m-%dT%H:%M:%SZ",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "OAS_VERSION": "3.1.0",
    "VERSION": "1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SCHEMA_PATH_PREFIX": r"/(api/)?v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "ErrorCode": "framework.errors.Code",
        "OrderStatus": "orders.models.Order.Status",
        "ReservationStatus": "reservations.models.Reservation.Status",
        "ExportStatus": "catalogue.models.Export.Status",
        "RestaurantStatus": "catalogue.models.Restaurant.Status",
        "ChangeKind": "catalogue.models.Version.Kind",
        "LandmarkKind": "catalogue.models.Landmark.Kind",
        "OfferStatus": "catalogue.offers.on_sale.Status",
        "TierName": "payments.tiers.definitions.TIERS",
        "PendingReason": "reservations.models.Reservation.PendingReason",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "framework.api.openapi.schema.finish",
    ],
}
# Both APIs may be called from any page; neither takes cookies, so no page can act for who is signed in here.
CORS_URLS_REGEX = r"^/(api|v1|mcp|\.well-known|docs|CHANGELOG\.md|llms\.txt|openapi\.json)(/|$)"
CORS_ALLOW_ALL_ORIGINS = True
CORS_ALLOW_METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE"]
CORS_ALLOW_HEADERS = [
    *("authorization", "content-type", "idempotency-key", "if-match", "if-none-match"),
    *("payment-signature", "x-payment", "x-receipt", "sign-in-with-x", "x-manage-token"),
    *("range", "if-range"),
    *("mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "last-event-id"),
    # Official x402 clients in a browser send it with a payment.
    "access-control-expose-headers",
]
CORS_EXPOSE_HEADERS = [
    *("x402", "PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "X-Receipt"),
    *("Accept-Ranges", "Content-Disposition", "Content-Range", "ETag", "Link", "Location", "Retry-After"),
    *("Idempotent-Replayed", "X-Request-Id", "X-Tier", "WWW-Authenticate", "Allow"),
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy"),
]
