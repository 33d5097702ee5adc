"""The page on which the staff pause the ordering page."""

from datetime import timedelta

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from orders.models import OrderingSettings

# The minutes of each button; None is until the staff continue.
PAUSES = {"30": 30, "60": 60, "open": None}


@page(Right.ORDERS, section="board", methods=("GET", "HEAD", "POST"))
def pause_ordering(request: PageRequest) -> HttpResponse:
    """Show whether the ordering page takes orders (GET), pause it or continue (POST). API orders are not affected."""
    venue = request.access.venue
    now = venue.now()
    settings = OrderingSettings.objects.filter(venue=venue).first()
    if request.method != "POST" or settings is None:
        context = {"settings": settings, "is_paused": settings is not None and settings.is_paused(now=now)}
        return render(request, "orders/pause.html", context)
    button = request.POST.get("pause", "")
    minutes = PAUSES.get(button)
    settings.paused_at = now if button in PAUSES else None
    settings.paused_until = now + timedelta(minutes=minutes) if minutes else None
    settings.save(update_fields=["paused_at", "paused_until"])
    paused, open_ = _("The ordering page is paused."), _("The ordering page takes orders.")
    messages.success(request, paused if settings.paused_at else open_)
    return redirect("pause-ordering", venue=venue.public_id)
