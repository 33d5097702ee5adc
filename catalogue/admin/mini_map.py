"""The map of a restaurant's surroundings, for the back office."""

from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from catalogue.admin import mini_map_data
from catalogue.models import Restaurant
from catalogue.search.geocoding.distance import Location


def map_of(restaurant: Restaurant, *, marked: UUID | None = None) -> SafeString | None:
    """Render the map, with the restaurant `marked` highlighted; None without a location. Two queries."""
    if restaurant.latitude is None or restaurant.longitude is None:
        return None
    here = Location(restaurant.latitude, restaurant.longitude)
    context = {"place": restaurant, "map": mini_map_data.around(here, but=restaurant.pk), "marked": marked}
    return render_to_string("catalogue/map.html", context)
