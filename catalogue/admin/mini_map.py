"""The picture of where a restaurant is, for pages of the back office."""

from uuid import UUID

from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from catalogue.admin import mini_map_data
from catalogue.models import Restaurant
from catalogue.search.geocoding.distance import Location


def map_of(restaurant: Restaurant, *, marked: UUID | None = None) -> SafeString | None:
    """What is around it, `marked` as the one to look at; None without a location. Two queries."""
    if restaurant.latitude is None or restaurant.longitude is None:
        return None
    here = Location(restaurant.latitude, restaurant.longitude)
    told = {"place": restaurant, "map": mini_map_data.around(here, but=restaurant.pk), "marked": marked}
    return render_to_string("catalogue/map.html", told)
