"""Revenue and spending."""
