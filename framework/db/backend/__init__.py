"""The ENGINE of DATABASES: Django's for PostgreSQL, with detection of frozen servers and redacted errors."""
