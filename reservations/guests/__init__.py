"""Guest profiles: search, retention, erasure."""
