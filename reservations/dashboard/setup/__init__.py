"""Setting up tables and service hours."""
