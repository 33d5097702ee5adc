"""Parsers of file formats and of single fields."""
