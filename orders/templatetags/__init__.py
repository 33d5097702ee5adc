"""Template filters of orders."""
