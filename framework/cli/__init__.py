"""What management commands share."""
