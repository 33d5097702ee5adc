"""Mail to guests."""
