"""Tables and areas of a venue."""
