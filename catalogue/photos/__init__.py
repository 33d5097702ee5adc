"""Photos: uploads, thumbnails, lists."""

from catalogue.photos.listing import PhotoPage, count_photos, list_photos, photo_links
from catalogue.photos.thumbnails import load_thumbnail
