"""The shapes of what payments tell, by noun."""
