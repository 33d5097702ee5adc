"""Where staff find, read and mend the catalogue."""

from catalogue.admin import context, exports, flow, imports, insights, photos, places, reports, reviews

__all__ = ["context", "exports", "flow", "imports", "insights", "photos", "places", "reports", "reviews"]
