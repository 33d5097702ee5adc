"""The public booking page."""
