"""Settings, URLs and entry points: the composition root."""
