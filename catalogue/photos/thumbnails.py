"""Thumbnails of restaurant photos: of an upload its scaled original, of a generated photo its card."""

from catalogue.demo.photo_cards import draw_card
from catalogue.models import Photo
from framework.images import thumbnails
from framework.images.thumbnails import SIZES, Thumbnail
from framework.public_ids import encode


def thumbnail_name(photo: Photo, size: str) -> str:
    """Name of a thumbnail in the storage."""
    name = encode("ph", photo.pk)
    # The last characters of an id are random, so the folders fill evenly.
    return f"sizes-{thumbnails.VERSION}/{name[-2:]}/{name}-{size}.webp"


def stored_names(photos: list[Photo]) -> list[str]:
    """Names in the storage of the originals and thumbnails of these photos."""
    originals = [photo.file for photo in photos if photo.file]
    return originals + [thumbnail_name(photo, size) for photo in photos for size in SIZES]


def load_thumbnail(photo: Photo, size: str) -> Thumbnail:
    """Return a thumbnail; the first request makes and stores it."""
    return thumbnails.load_or_make(thumbnail_name(photo, size), lambda: make_thumbnail(photo, size))


def make_thumbnail(photo: Photo, size: str) -> bytes:
    """Scale the original, or draw the card of a generated photo; WebP without metadata."""
    if photo.card_seed is None:
        return thumbnails.scale_original(photo.file, size)
    width, height = thumbnails.thumbnail_dimensions(size, width=photo.width, height=photo.height)
    title = photo.caption or photo.get_kind_display()
    card = draw_card(photo.card_seed, title=title, footer=photo.restaurant.name, width=width, height=height)
    return thumbnails.encode(card)
