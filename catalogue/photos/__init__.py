"""Photos: painted or stored, cut to sizes, listed and served."""
