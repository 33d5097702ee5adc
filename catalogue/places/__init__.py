"""Restaurants: resolve slugs, rename, merge and erase."""

from catalogue.places.erase import erase
from catalogue.places.merge import CannotMerge, merge
from catalogue.places.rename import SlugTaken, rename
from catalogue.places.resolve_slug import (
    Gone,
    Place,
    RestaurantNotFound,
    find_place,
    find_places,
    find_restaurant,
    missing_error,
)
from framework.errors import Renamed
