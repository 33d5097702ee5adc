"""Where staff find, read and mend the catalogue."""

from catalogue.admin import context, exports, imports, places, reviews

__all__ = ["context", "exports", "imports", "places", "reviews"]
