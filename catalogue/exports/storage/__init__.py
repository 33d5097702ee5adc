"""Where export files are stored."""
