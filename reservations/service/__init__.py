"""Running the service: check-in, walk-ins."""
