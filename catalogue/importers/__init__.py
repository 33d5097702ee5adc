"""Importers: extract, stage, compare, upsert, and close what is missing."""
