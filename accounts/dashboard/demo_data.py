"""The demo data of a sandbox: added or moved to the current day with one click, and removed."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.demo import commands
from accounts.models import DemoData
from accounts.tenancy.permissions import Access, Right
from framework.forms.domain_errors import errors_as_messages
from framework.languages import format_number

# Of the counts of the parts of the demo.
NOUNS = {
    "dishes": ngettext_lazy("%(number)s dish", "%(number)s dishes", "count"),
    "orders": ngettext_lazy("%(number)s order", "%(number)s orders", "count"),
    "tables": ngettext_lazy("%(number)s table", "%(number)s tables", "count"),
    "notes about guests": ngettext_lazy("%(number)s note about a guest", "%(number)s notes about guests", "count"),
    "reservations": ngettext_lazy("%(number)s reservation", "%(number)s reservations", "count"),
    "API calls": ngettext_lazy("%(number)s API call", "%(number)s API calls", "count"),
}


@page(Right.VENUE, section="venue", methods=("POST",))
def fill(request: PageRequest) -> HttpResponse:
    """Add the demo data, or move it to the current day, and show the overview."""
    venue = request.access.venue
    with errors_as_messages(request):
        is_move = commands.is_filled(venue)
        added = describe(commands.fill(venue, now=venue.now()))
        if not added:
            messages.info(request, _("The demo data is up to date."))
        elif is_move:
            text = _("The demo data was moved to today: %(added)s. What you have changed was kept.")
            messages.success(request, text % {"added": added})
        else:
            text = _("Added %(added)s. What was here before was kept.")
            messages.success(request, text % {"added": added})
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
        removed = describe(commands.remove(venue, now=venue.now()))
        text = _("Removed %(removed)s.") % {"removed": removed} if removed else _("There was no demo data.")
        messages.success(request, text)
    return redirect("venue-settings", venue=venue.public_id)


def describe(counts: commands.Counts) -> str:
    """Return counts as text: `1,196 API calls, 546 orders and 1 table`; empty without any."""
    amounts = [
        NOUNS[noun] % {"count": number, "number": format_number(number)} for noun, number in counts.items() if number
    ]
    return get_text_list(amounts, _("and"))


def get_state(access: Access) -> dict[str, Any] | None:
    """Return the state of the demo data for pages; None if the venue can have none, or for users who may not add it.

    One query for a sandbox.
    """
    if not (access.venue.is_sandbox and access.may(Right.VENUE)):
        return None
    demo = DemoData.objects.filter(venue=access.venue).first() or DemoData()
    demo.venue = access.venue
    return {"filled_at": demo.filled_at, "is_current": demo.is_current(access.venue.now())}
