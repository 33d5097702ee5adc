"""Review queues: possible duplicates and reports."""
