"""Where staff find, read and mend the catalogue."""

from catalogue.admin import context, imports, places, reviews

__all__ = ["context", "imports", "places", "reviews"]
