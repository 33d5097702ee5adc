"""The back office of reservations."""

from reservations.admin import reservations, setup

__all__ = ["reservations", "setup"]
