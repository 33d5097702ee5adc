"""Analysis of reviews."""
