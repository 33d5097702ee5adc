"""One module for each source of data."""
