"""Generated restaurants and reviews: the same seed and numbers make the same rows."""
