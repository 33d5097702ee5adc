"""Twelve ways to break the product on purpose, each with the test that has to notice."""
