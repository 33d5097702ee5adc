"""Public pages: the landing page, the documentation, and the reference of both APIs."""
