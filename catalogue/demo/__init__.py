"""Demo data: generated restaurants, reviews and photos. The same seed and numbers give the same rows."""
