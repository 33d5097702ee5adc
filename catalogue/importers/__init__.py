"""Importers: other people's files into the catalogue, any number of times, a broken row never in silence."""
