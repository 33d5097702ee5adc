"""Photos: painted or stored, cut to sizes, listed and served."""

from catalogue.photos.record import PhotoPage, attributions, of_reviews, page
from catalogue.photos.sizes import CONTENT_TYPE, SIZES, picture

__all__ = ["CONTENT_TYPE", "SIZES", "PhotoPage", "attributions", "of_reviews", "page", "picture"]
