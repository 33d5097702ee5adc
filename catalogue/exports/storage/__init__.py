"""Storage of export files."""
