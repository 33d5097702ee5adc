"""The back office of reservations."""

from reservations.admin import reservations, setup
