"""Offers of a claimed restaurant: weekly discounts, and whether apps and assistants can book there."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from catalogue.claims import editing
from catalogue.dashboard.listing.editing import SECTION, find_claim
from catalogue.dashboard.listing.forms import WEEKDAYS
from catalogue.models import FlowRule, FlowSlot, Listing
from catalogue.offers.slot_rules import list_times
from catalogue.tasks import enqueue_slot_generation
from framework.forms.domain_errors import errors_as_messages, errors_on_form

METHODS = ("GET", "HEAD", "POST")


class OfferForm(forms.ModelForm[FlowRule]):
    weekdays = forms.TypedMultipleChoiceField(
        label=gettext_lazy("Weekdays"),
        choices=list(enumerate(WEEKDAYS)),
        coerce=int,
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = FlowRule
        fields = (
            *("weekdays", "time", "until", "every_minutes", "percent", "applies_to", "seats", "party_min"),
            *("party_max", "book_before_minutes", "bookable_days", "except_dates", "terms", "active"),
        )
        labels = {
            "time": gettext_lazy("First time"),
            "until": gettext_lazy("Last time"),
            "every_minutes": gettext_lazy("Minutes between times"),
            "percent": gettext_lazy("Discount in percent"),
            "applies_to": gettext_lazy("Applies to"),
            "seats": gettext_lazy("Guests per time"),
            "party_min": gettext_lazy("Smallest party"),
            "party_max": gettext_lazy("Largest party"),
            "book_before_minutes": gettext_lazy("Minutes before, until when it can be booked"),
            "bookable_days": gettext_lazy("Days before, from when it can be booked"),
            "except_dates": gettext_lazy("Not on these days"),
            "terms": gettext_lazy("Terms"),
            "active": gettext_lazy("Active"),
        }
        help_texts = {
            "time": "",
            "until": gettext_lazy("Empty: one time a day."),
            "every_minutes": "",
            "seats": "",
            "book_before_minutes": "",
            "bookable_days": gettext_lazy("Empty: no limit."),
            "except_dates": gettext_lazy("Separated by commas: 2026-12-24, 2026-12-31"),
        }
        widgets = {
            "time": forms.TimeInput({"type": "time"}, format="%H:%M"),
            "until": forms.TimeInput({"type": "time"}, format="%H:%M"),
            "terms": forms.Textarea({"rows": 2}),
        }


@page(Right.VENUE, section=SECTION)
def list_offers(request: PageRequest) -> HttpResponse:
    """List the discounts, with the slots on sale. Four queries besides the claim's."""
    claim, now = find_claim(request), timezone.now()
    rules = list(editing.list_rules(claim.restaurant))
    slots = FlowSlot.objects.filter(restaurant=claim.restaurant, starts_at__gt=now, withdrawn_at=None)
    listing = Listing.objects.filter(restaurant=claim.restaurant, venue=claim.venue).first()
    context = {
        "restaurant": claim.restaurant,
        "rules": [{"rule": rule, "times": list_times(rule), "days": _days(rule)} for rule in rules],
        "is_bookable": listing is not None and listing.is_active,
        "slot_count": slots.count(),
        "imported": FlowRule.objects.filter(restaurant=claim.restaurant).exclude(source_record=None).count(),
    }
    return render(request, "catalogue/dashboard/listing_offers.html", context)


def _days(rule: FlowRule) -> str:
    days = sorted(rule.weekdays)
    return _("Every day") if len(days) == len(WEEKDAYS) else ", ".join(str(WEEKDAYS[day]) for day in days)


@page(Right.VENUE, section=SECTION, methods=("POST",))
def switch(request: PageRequest) -> HttpResponse:
    """Switch on or off that apps and assistants can book tables and offers."""
    claim = find_claim(request)
    with errors_as_messages(request):
        editing.set_bookable(claim, is_active="on" in request.POST, now=timezone.now())
        enqueue_slot_generation(claim.restaurant_id)
        messages.success(request, _("Saved."))
    return redirect("listing-offers", venue=request.access.venue.public_id)


@page(Right.VENUE, section=SECTION, methods=METHODS)
def edit(request: PageRequest, offer: int | None = None) -> HttpResponse:
    """Enter a discount, or change one."""
    claim = find_claim(request)
    own = editing.list_rules(claim.restaurant)
    rule = get_object_or_404(own, pk=offer) if offer else None  # nosemgrep: rows-are-found-by-their-owner
    initial: dict[str, Any] = {} if rule else {"weekdays": list(range(len(WEEKDAYS)))}
    form = OfferForm(request.POST if request.method == "POST" else None, instance=rule, initial=initial)
    if form.is_valid():
        with errors_on_form(form):
            editing.save_rule(claim, form.instance)
            enqueue_slot_generation(claim.restaurant_id)
            messages.success(request, _("Saved. The times of the next 14 days follow in a moment."))
            return redirect("listing-offers", venue=request.access.venue.public_id)
    context = {"form": form, "rule": rule}
    return render(request, "catalogue/dashboard/listing_offer.html", context, status=400 if form.errors else 200)


@page(Right.VENUE, section=SECTION, methods=("POST",))
def remove(request: PageRequest, offer: int) -> HttpResponse:
    """Delete a discount; booked tables stay booked."""
    claim = find_claim(request)
    get_object_or_404(editing.list_rules(claim.restaurant), pk=offer)  # nosemgrep: rows-are-found-by-their-owner
    with errors_as_messages(request):
        editing.delete_rule(claim, offer)
        enqueue_slot_generation(claim.restaurant_id)
        messages.success(request, _("The offer was deleted."))
    return redirect("listing-offers", venue=request.access.venue.public_id)
