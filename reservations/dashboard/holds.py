"""Holds on the day view: staff release one whose table they need."""

from django.contrib import messages
from django.contrib.admin.models import DELETION, LogEntry
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from framework.errors import ApiError
from reservations.booking import holds
from reservations.dashboard.url_params import parse_day
from reservations.models import Hold


@page(Right.RESERVATIONS, section="day", methods=("POST",))
def release(request: PageRequest, *, hold: str) -> HttpResponse:
    """Release a hold, and return to the shown day. A hold that has ended in the meantime is only reported."""
    venue, day = request.access.venue, parse_day(request.POST.get("day"))
    try:
        found = holds.find(venue, hold, now=venue.now())
        with transaction.atomic():
            # Holds have no events, and their rows are deleted: this entry says who released it.
            log_release(request, found)
            holds.release(found)
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        message = _("The hold of %(tables)s at %(time)s was released. The table is free.")
        messages.success(request, message % {"tables": ", ".join(found.tables), "time": f"{found.time:%H:%M}"})
    address = reverse("reservation-day", kwargs={"venue": venue.public_id})
    return redirect(f"{address}?day={day}" if day else address)


def log_release(request: PageRequest, hold: Hold) -> None:
    message = f"Released on the dashboard of {hold.venue.name}: {', '.join(hold.tables)}"
    LogEntry.objects.log_actions(request.user.pk, [hold], DELETION, change_message=message)  # type: ignore[arg-type]
