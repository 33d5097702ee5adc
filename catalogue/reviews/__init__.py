"""Reviews: listing, aggregates, language."""
