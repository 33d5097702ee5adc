"""Reports of wrong data."""
