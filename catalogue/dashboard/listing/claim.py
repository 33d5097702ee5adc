"""Claiming a restaurant: search, proof by code or by our staff, and giving it up."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from catalogue.claims import commands
from catalogue.dashboard.listing import forms
from catalogue.dashboard.listing.editing import render_listing
from catalogue.matching.match_endpoint import Match, find_matches
from catalogue.models import Market, Restaurant, RestaurantClaim
from framework.forms.domain_errors import errors_as_messages, errors_on_form
from framework.public_ids import decode, encode

SECTION = "listing"
State = RestaurantClaim.State


@page(Right.VENUE, section=SECTION)
def show(request: PageRequest) -> HttpResponse:
    """Show the listing, the pending claim, or the search for the restaurant."""
    claim = commands.find_current_claim(request.access.venue)
    if claim is None:
        return render_search(request)
    if claim.state == State.VERIFIED:
        return render_listing(request, claim)
    return render_pending(request, claim, forms.CodeForm())


def render_search(request: PageRequest) -> HttpResponse:
    """The restaurants that match the venue, or what the user has entered. At most eight queries.

    The first search is a guess: it shows what it finds, and nothing else.
    """
    venue = request.access.venue
    values = {} if "name" in request.GET else forms.search_values(venue)
    form = forms.SearchForm(values or request.GET)
    matches: list[Match] | None = None
    if form.is_valid():
        entered = form.cleaned_data
        market = entered["market"].slug if entered["market"] else None
        with errors_on_form(form):
            matches = find_matches(
                entered["name"],
                address=entered["address"] or None,
                phone=entered["phone"] or None,
                market=market,
                limit=10,
            )
    if values and not matches:
        form, matches = forms.SearchForm(initial=values | {"market": ""}), None
    listed = Restaurant.objects.filter(listing__venue=venue, erased_at=None).first()
    context = {
        "form": form,
        "matches": matches,
        "is_covered": not values or matches or Market.objects.filter(timezone=venue.timezone).exists(),
        "listed": listed,
        "listed_id": listed and encode("rst", listed.pk),
        "refused": RestaurantClaim.objects.filter(venue=venue, state=State.REFUSED).order_by("-decided_at").first(),
    }
    return render(request, "catalogue/dashboard/listing_search.html", context, status=400 if form.errors else 200)


def render_pending(request: PageRequest, claim: RestaurantClaim, form: forms.CodeForm) -> HttpResponse:
    context = {"claim": claim, "form": form, "waits_for_code": claim.state == State.CODE_SENT}
    return render(request, "catalogue/dashboard/listing_pending.html", context, status=400 if form.errors else 200)


@page(Right.VENUE, section=SECTION, methods=("GET", "HEAD", "POST"))
def claim(request: PageRequest, restaurant: str) -> HttpResponse:
    """Choose how to prove that the restaurant is the venue's own, and claim it."""
    venue, now = request.access.venue, timezone.now()
    key = decode("rst", restaurant)
    # Every restaurant can be claimed; the record is public.
    places = Restaurant.objects.filter(merged_into=None, erased_at=None).select_related("market")
    found = places.filter(pk=key).first() if key else None
    if found is None:
        raise Http404
    addresses = commands.list_code_addresses(found, now=now)
    form = forms.ClaimForm(request.POST if request.method == "POST" else None, addresses=addresses)
    if form.is_valid():
        with errors_on_form(form):
            made = commands.request_claim(venue, found, user=request.access.user, now=now, **form.cleaned_data)
            if made.state == State.CODE_SENT:
                text = _("A code was sent to %(address)s.") % {"address": made.address}
                messages.success(request, text, extra_tags="mail-sent")
            return redirect("listing", venue=venue.public_id)
    context = {"form": form, "restaurant": found}
    return render(request, "catalogue/dashboard/listing_claim.html", context, status=400 if form.errors else 200)


@page(Right.VENUE, section=SECTION, methods=("POST",))
def step(request: PageRequest, step: str) -> HttpResponse:
    """The next step of the current claim: its code, a new code, our staff instead, or its end."""
    venue, now = request.access.venue, timezone.now()
    current = commands.find_current_claim(venue)
    if current is None:
        raise Http404
    current.venue = venue
    if step == "code":
        form = forms.CodeForm(request.POST)
        if form.is_valid():
            with errors_on_form(form):
                commands.confirm_code(current, form.cleaned_data["code"], now=now)
                text = _("%(restaurant)s is yours to edit.") % {"restaurant": current.restaurant.name}
                messages.success(request, text)
        if form.errors:
            return render_pending(request, current, form)
        return redirect("listing", venue=venue.public_id)
    with errors_as_messages(request):
        match step:
            case "resend":
                commands.resend_code(current, now=now)
                text = _("A new code was sent to %(address)s.") % {"address": current.address}
                messages.success(request, text, extra_tags="mail-sent")
            case "staff":
                commands.ask_staff(current, note=request.POST.get("note", "").strip()[:500])
            case "end":
                commands.end_claim(current, by=request.access.user, reason="", now=now)
            case _other:
                raise Http404
    return redirect("listing", venue=venue.public_id)
