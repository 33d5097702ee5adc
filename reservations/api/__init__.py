"""The reservations endpoints of the management API."""
