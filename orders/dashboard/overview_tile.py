"""Today's order totals for the overview."""

from django.http import HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from orders import board
from orders.dashboard.board import format_money


@page(Right.ORDERS)
def show_tiles(request: PageRequest) -> HttpResponse:
    """Render tiles with today's orders by status and their total."""
    venue = request.access.venue
    sums = board.sum_today(venue, now=timezone.now())
    return render(
        request, "orders/overview_tile.html", {"sums": sums, "revenue": format_money(sums.revenue, venue.currency)}
    )
