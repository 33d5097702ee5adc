"""Parameters of availability and bookings."""

from catalogue.filters.param_types import integer, page_cursor
from framework.api.fields import DateField
from framework.api.query_params.declarations import IntegerParam, QueryParams
from reservations.serializers import AreaField


class AvailabilityParams(QueryParams):
    """The parameters of GET /v1/restaurants/{slug}/availability."""

    date = DateField(help_text="The first day, by the restaurant's clock.")
    until = DateField(required=False, help_text="The last day, if you ask for several; at most 31 days.")
    party_size = IntegerParam(min_value=1, max_value=500, help_text="Number of guests.")
    area = AreaField(required=False, help_text="Only tables of this area.")


class BookingListParams(QueryParams):
    """The parameters of GET /v1/bookings."""

    limit = integer(1, 100, "Bookings on a page.", default=20)
    cursor = page_cursor()
