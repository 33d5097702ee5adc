"""Tags of templates about reservations."""
