"""Public pages: landing page, documentation and API reference."""
