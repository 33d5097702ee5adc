"""PostgreSQL: backend, locks, actors, row history, read replica."""
