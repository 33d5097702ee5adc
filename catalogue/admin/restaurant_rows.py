"""Lists of rows that belong to a restaurant."""

from framework.admin.large_tables import LargeTableAdmin


class RestaurantRowsAdmin(LargeTableAdmin):
    """Shows the restaurant of each row, and searches by its slug."""

    list_select_related = ["restaurant"]
    search_fields = ["restaurant__slug__exact"]
    search_help_text = "Complete slug of the restaurant"
