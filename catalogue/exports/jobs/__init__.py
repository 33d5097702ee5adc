"""The work on exports in background workers."""
