"""Reading the fields of imported records."""
