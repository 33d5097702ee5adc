"""The orders endpoints of the management API."""
