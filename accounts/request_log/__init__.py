"""The log of API requests, redacted."""
