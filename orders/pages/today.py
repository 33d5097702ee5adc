"""The orders of today in a few figures, for the overview."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.pages.doorway import PageRequest, page
from accounts.rights import Right
from orders import day
from orders.pages.board import money


@page(Right.ORDERS)
def tiles(request: PageRequest) -> HttpResponse:
    """Tiles: orders of today by status, and what they come to."""
    venue = request.access.venue
    sums = day.of_today(venue, now=timezone.now())
    return render(request, "orders/today.html", {"sums": sums, "revenue": money(sums.revenue, venue.currency)})
