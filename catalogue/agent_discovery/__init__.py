"""Documents by which agents find the service."""
