"""The views of the payments API."""
