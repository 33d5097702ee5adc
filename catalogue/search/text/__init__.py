"""Text of queries: autocomplete, spelling correction, vocabulary and labels."""
