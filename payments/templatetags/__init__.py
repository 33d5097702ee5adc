"""Template filters of payments."""
