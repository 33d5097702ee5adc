"""What a guest may do with a link to a reservation."""
