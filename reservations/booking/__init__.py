"""Availability, booking and table assignment."""
