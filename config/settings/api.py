"""Both HTTP APIs: REST framework, OpenAPI, CORS, and the retention of their data."""

from typing import Any

from config import environment as env

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "DEFAULT_PARSER_CLASSES": ["framework.api.json_parser.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["framework.api.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "framework.api.renderers.JsonContentNegotiation",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "framework.api.openapi.schema.OperationSchema",
    "EXCEPTION_HANDLER": "framework.api.error_handler.handle_exception",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,
    # Whole seconds.
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
    # It would read both versions of the management API as one document; `manage.py openapi --check` reads ours.
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
    "ENUM_NAME_OVERRIDES": {
        "ErrorCode": "framework.errors.ErrorCode",
        "WebhookStatus": "accounts.models.WebhookEndpoint.Status",
        "WebhookDeliveryState": "accounts.models.WebhookDelivery.State",
        "EventType": "accounts.models.EventType",
        "ChargeType": "orders.models.ChargeRule.Type",
        "FulfilmentType": "orders.models.Fulfilment",
        "OrderStatus": "orders.models.Order.Status",
        "ReservationStatus": "reservations.models.Reservation.Status",
        "ExportStatus": "catalogue.models.Export.Status",
        "RestaurantStatus": "catalogue.models.Restaurant.Status",
        "ChangeKind": "catalogue.models.Version.Kind",
        "LandmarkKind": "catalogue.models.Landmark.Kind",
        "OfferStatus": "catalogue.offers.on_sale.Status",
        "BookingStatus": "catalogue.serializers.offers.BOOKED",
        "TierName": "payments.tiers.definitions.TIERS",
        "PendingReason": "reservations.models.Reservation.PendingReason",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "framework.api.openapi.schema.postprocess",
    ],
}
# Any page may call the APIs. They ignore cookies, so no page can act for a signed-in user.
CORS_URLS_REGEX = (
    r"^/(api|v1|mcp|ucp|\.well-known|docs|CHANGELOG\.md|llms\.txt|openapi\.json|oauth/(?:token|revoke|register))(/|$)"
)
CORS_ALLOW_ALL_ORIGINS = True
CORS_ALLOW_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
CORS_ALLOW_HEADERS = [
    *("authorization", "content-type", "idempotency-key", "tablewire-venue", "if-match", "if-none-match"),
    *("payment-signature", "x-payment", "x-receipt", "sign-in-with-x", "x-manage-token"),
    *("range", "if-range", "ucp-agent", "request-id"),
    *("mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "last-event-id"),
    # Official x402 browser clients send it with a payment.
    "access-control-expose-headers",
]
CORS_EXPOSE_HEADERS = [
    *("x402", "PAYMENT-REQUIRED", "PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE", "X-Receipt", "Receipt-Statement"),
    *("Accept-Ranges", "Content-Disposition", "Content-Range", "ETag", "Link", "Location", "Retry-After"),
    *("Idempotent-Replayed", "X-Request-Id", "X-Tier", "WWW-Authenticate", "Allow"),
    *("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "RateLimit", "RateLimit-Policy"),
]

# The Universal Commerce Protocol: food is a draft (docs/ucp.md).
UCP_ENABLED = env.flag("UCP_ENABLED", False)

TRUSTED_PROXIES = env.number("TRUSTED_PROXIES", 0)
MAX_BODY_BYTES = 1024 * 1024
MCP_ALLOWED_ORIGINS = env.origins("MCP_ALLOWED_ORIGINS")

# Webhook endpoints on this machine are allowed on a developer's machine only.
WEBHOOKS_TO_LOOPBACK = env.flag("WEBHOOKS_TO_LOOPBACK", False)
# Requests a minute to one IP address. 0, here and below: without limit.
WEBHOOK_ADDRESS_LIMIT = env.number("WEBHOOK_ADDRESS_LIMIT", 1_200)
# The key of web push. None: one derived from SECRET_KEY.
VAPID_PRIVATE_KEY = env.vapid_key("VAPID_PRIVATE_KEY")
# The networks in which venues may have printers: for an installation in the network of its venues.
env.demand_extra("PRINTER_NETWORKS", "printing", "escpos")
PRINTER_NETWORKS = env.networks("PRINTER_NETWORKS")
EVENT_RETENTION_DAYS = env.number("EVENT_RETENTION_DAYS", 90)
GUEST_RETENTION_DAYS = env.number("GUEST_RETENTION_DAYS", 0)
