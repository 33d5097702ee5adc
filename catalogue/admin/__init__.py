"""Where staff find, read and mend the catalogue."""

from catalogue.admin import context, exports, imports, insights, places, reviews

__all__ = ["context", "exports", "imports", "insights", "places", "reviews"]
