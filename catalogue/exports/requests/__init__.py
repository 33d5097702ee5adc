"""Ordering, quoting and describing exports."""
