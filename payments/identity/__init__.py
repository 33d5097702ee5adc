"""Who calls the data API."""
