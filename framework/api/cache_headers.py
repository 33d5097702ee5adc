"""Cache headers of responses that are private to one client."""

NO_STORE = {"Cache-Control": "private, no-store"}
