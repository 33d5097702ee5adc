"""Endpoints of the management API that are about a venue's programs."""
