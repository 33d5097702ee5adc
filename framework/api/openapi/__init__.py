"""The OpenAPI documents."""
