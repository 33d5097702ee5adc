"""What caches are told of answers that are one caller's own."""

NO_STORE = {"Cache-Control": "private, no-store"}
