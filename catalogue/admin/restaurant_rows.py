"""Search of restaurants, and of rows that belong to one."""

from typing import Any

from django.db.models import F, Q, QuerySet, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalogue.models import Restaurant
from framework.admin.large_tables import LargeTableAdmin
from framework.db.text_search import fold

MIN_QUERY_LENGTH = 3
# Restaurants whose rows a search by name shows.
MAX_RESTAURANTS = 200


def search_restaurants(rows: QuerySet[Restaurant], term: str) -> QuerySet[Restaurant]:
    """The restaurants with this text in their name, in any case and without accents, or with this slug."""
    if sum(letter.isalnum() for letter in term) < MIN_QUERY_LENGTH:
        return rows.filter(slug=term)

    return rows.alias(folded=fold(F("name"))).filter(Q(folded__contains=fold(Value(term))) | Q(slug=term))


def restaurant_link(restaurant: Restaurant) -> SafeString:
    url = reverse("admin:catalogue_restaurant_change", args=[restaurant.pk])
    return format_html('<a href="{}">{}</a>', url, restaurant.name)


class RestaurantRowsAdmin(LargeTableAdmin):
    """Shows the restaurant of each row, and searches by its name or slug."""

    list_select_related = ["restaurant"]
    # The field shows the search box; `get_search_results` searches.
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "Restaurant: name or slug"

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        prefixes = [f"{prefix}_" for prefix in (self.own_prefix, *self.id_columns) if prefix]
        if not term or term.startswith(tuple(prefixes)):
            return super().get_search_results(request, queryset, term)
        found = search_restaurants(Restaurant.objects.all(), term).values_list("pk", flat=True)[:MAX_RESTAURANTS]
        return queryset.filter(restaurant__in=list(found)), False
