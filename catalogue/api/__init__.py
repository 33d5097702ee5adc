"""REST views of the catalogue."""
