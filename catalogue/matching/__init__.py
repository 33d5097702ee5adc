"""Record linkage: scores and decisions about duplicates."""
