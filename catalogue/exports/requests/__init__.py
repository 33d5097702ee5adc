"""Orders, quotes and representations of exports."""
