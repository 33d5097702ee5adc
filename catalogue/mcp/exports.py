"""Tools for bulk exports."""
