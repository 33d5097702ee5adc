"""Downloads of export files."""
