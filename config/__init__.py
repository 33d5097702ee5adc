"""Settings, doorways and the composition root."""
