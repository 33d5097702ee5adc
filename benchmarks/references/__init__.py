"""What others would write in our place: applications of their own, on our tables, that do the work of our routes."""
