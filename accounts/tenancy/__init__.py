"""Members of an account, their roles and what these may do."""
