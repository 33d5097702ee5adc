"""Which restaurant a slug means, and how restaurants are renamed, merged and erased."""

from catalogue.identity.erasing import erase
from catalogue.identity.finding import Gone, NoSuchRestaurant, Place, find, missing, place
from catalogue.identity.merging import CannotMerge, merge
from catalogue.identity.renaming import SlugTaken, rename
from config.api.refusal import Renamed

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
