"""Photos: painted or stored, cut to sizes, listed and served."""

from catalogue.photos.listing import PhotoPage, brief, count, page
from catalogue.photos.thumbnails import CONTENT_TYPE, SIZES, picture

__all__ = ["CONTENT_TYPE", "SIZES", "PhotoPage", "brief", "count", "page", "picture"]
