"""Query parameters of the order list."""

from django_filters import rest_framework as filters

from framework.api.filters import StrictChoiceFilter
from orders.models import Order


class OrderFilter(filters.FilterSet):
    status = StrictChoiceFilter(choices=Order.Status.choices, label="Only orders of this status")

    class Meta:
        model = Order
        fields: list[str] = []
