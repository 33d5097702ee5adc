"""The demo data of a sandbox: added or moved to the current day with one click, and removed."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.text import get_text_list

from accounts.dashboard.decorators import PageRequest, page
from accounts.demo import commands
from accounts.models import DemoData
from accounts.tenancy.permissions import Access, Right
from framework.forms.domain_errors import errors_as_messages


@page(Right.VENUE, section="venue", methods=("POST",))
def fill(request: PageRequest) -> HttpResponse:
    """Add the demo data, or move it to the current day, and show the overview."""
    venue = request.access.venue
    with errors_as_messages(request):
        is_move = commands.is_filled(venue)
        added = describe(commands.fill(venue, now=timezone.now()))
        if not added:
            messages.info(request, "The demo data is up to date.")
        elif is_move:
            messages.success(request, f"The demo data was moved to today: {added}. What you have changed was kept.")
        else:
            messages.success(request, f"Added {added}. What was here before was kept.")
    return redirect("overview", venue=venue.public_id)


@page(Right.VENUE, section="venue", methods=("GET", "HEAD", "POST"))
def remove(request: PageRequest) -> HttpResponse:
    """Ask for confirmation (GET), then remove the demo data (POST)."""
    venue = request.access.venue
    if request.method != "POST":
        if not venue.is_sandbox:
            raise Http404
        return render(request, "accounts/demo_data_remove.html")
    with errors_as_messages(request):
        removed = describe(commands.remove(venue, now=timezone.now()))
        messages.success(request, f"Removed {removed}." if removed else "There was no demo data.")
    return redirect("venue-settings", venue=venue.public_id)


def describe(counts: commands.Counts) -> str:
    """Return counts as text: `1,196 API calls, 546 orders and 1 table`; empty without any."""
    amounts = [(number, noun if number > 1 else noun.removesuffix("s")) for noun, number in counts.items() if number]
    return get_text_list([f"{number:,} {noun}" for number, noun in amounts], "and")


def get_state(access: Access) -> dict[str, Any] | None:
    """Return the state of the demo data for pages; None if the venue can have none, or for users who may not add it.

    One query for a sandbox.
    """
    if not (access.venue.is_sandbox and access.may(Right.VENUE)):
        return None
    demo = DemoData.objects.filter(venue=access.venue).first() or DemoData()
    demo.venue = access.venue
    return {"filled_at": demo.filled_at, "is_current": demo.is_current(timezone.now())}
