"""Query parameters of the catalogue."""
