"""From words to points: landmarks and distances."""
