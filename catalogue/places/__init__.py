"""Which restaurant a slug means, and how restaurants are renamed, merged and erased."""

from catalogue.places.erase import erase
from catalogue.places.merge import CannotMerge, merge
from catalogue.places.rename import SlugTaken, rename
from catalogue.places.resolve_slug import Gone, NoSuchRestaurant, Place, find, missing, place
from framework.errors import Renamed

__all__ = [
    "CannotMerge",
    "Gone",
    "NoSuchRestaurant",
    "Place",
    "Renamed",
    "SlugTaken",
    "erase",
    "find",
    "merge",
    "missing",
    "place",
    "rename",
]
