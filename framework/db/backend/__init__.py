"""The engine of DATABASES: Django's for PostgreSQL, which notices that a server is frozen and repeats no rows."""
