"""Rate limits counted in Valkey, with a local fallback."""
