"""Words of a query: suggestions, spelling, vocabulary."""
