"""Writing exports in workers."""
