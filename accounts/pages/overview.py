"""The first page of a venue, and the way to it."""

from typing import cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from accounts.models import User, Venue
from accounts.pages.doorway import PageRequest, page


@login_required
def dashboard(request: HttpRequest) -> HttpResponse:
    """Go to the overview of the first venue; who works nowhere yet is told what to do."""
    mine = Venue.objects.worked_at_by(cast("User", request.user)).by_name().first()
    return redirect("overview", venue=mine.public_id) if mine else render(request, "dashboard/nowhere.html")


@page(section="overview")
def overview(request: PageRequest) -> HttpResponse:
    """What goes on at the venue today."""
    return render(request, "dashboard/overview.html")
