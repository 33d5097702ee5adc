"""The settings page of a venue."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from accounts.dashboard.decorators import PageRequest, page
from accounts.forms.venue import SettingsForm
from accounts.models import Venue
from accounts.tenancy.permissions import Right
from framework.timezones import zone_names


class DetailsForm(SettingsForm):
    """Name, address and time zone."""

    class Meta:
        model = Venue
        fields = ["name", "address", "phone", "timezone"]
        labels = {"timezone": "Time zone"}
        help_texts = {"timezone": "Example: Europe/Rome"}
        widgets = {"timezone": forms.TextInput(attrs={"list": "zones", "autocomplete": "off"})}


class OrdersForm(SettingsForm):
    """Currency, tax and payment labels."""

    class Meta:
        model = Venue
        fields = ["currency", "prices_include_tax", "payment_methods"]
        labels = {"payment_methods": "Payment labels", "prices_include_tax": "Menu prices include tax"}
        help_texts = {
            "currency": "ISO 4217 code, such as EUR. It cannot change while the menu has prices",
            "prices_include_tax": "If off, tax is added to each order",
            "payment_methods": "Allowed payment labels of orders, separated by commas: card, cash. Empty: any",
        }


class ReservationsForm(SettingsForm):
    """Reservation rules and guest emails."""

    class Meta:
        model = Venue
        fields = [
            "max_days_ahead",
            "auto_confirm_max_party",
            "when_full",
            "mails_guests",
            "forgets_guests_after_days",
        ]
        labels = {
            "max_days_ahead": "Booking window in days",
            "auto_confirm_max_party": "Largest party confirmed automatically",
            "when_full": "When no table is free",
            "mails_guests": "Email guests",
            "forgets_guests_after_days": "Delete guest data after days",
        }
        help_texts = {
            "forgets_guests_after_days": "Number of days after a guest's last reservation. Contact data and notes are"
            " deleted permanently. Empty: never"
        }


class GuestsPageForm(SettingsForm):
    """Online booking."""

    class Meta:
        model = Venue
        fields = ["is_bookable_online", "proves_guests"]
        labels = {
            "is_bookable_online": "Online booking",
            "proves_guests": "Ask guests to confirm by email",
        }


SECTIONS: Mapping[str, tuple[str, type[SettingsForm]]] = {
    "details": ("Restaurant", DetailsForm),
    "orders": ("Orders", OrdersForm),
    "reservations": ("Reservations", ReservationsForm),
    "guests": ("Booking page", GuestsPageForm),
}


@page(Right.VENUE, section="venue")
def show(request: PageRequest) -> HttpResponse:
    """Show all sections, each with its own form."""
    return render_page(request)


@page(Right.VENUE, section="venue", methods=("POST",))
def save_section(request: PageRequest, *, part: str) -> HttpResponse:
    """Save one section."""
    if part not in SECTIONS:
        raise Http404
    title, form_class = SECTIONS[part]
    # The layout shows `request.access.venue`; the form gets its own copy, so that invalid input does not show there.
    form = form_class(request.POST, instance=Venue.objects.get(pk=request.access.venue.pk), prefix=part)
    if form.is_valid() and form.try_save():
        messages.success(request, f"{title}: saved." if form.changed_data else f"{title}: no changes.")
        return redirect(f"{reverse('venue-settings', kwargs={'venue': request.access.venue.public_id})}#{part}")
    return render_page(request, {part: form}, status=400)


def render_page(
    request: PageRequest, invalid: Mapping[str, SettingsForm] | None = None, status: int = 200
) -> HttpResponse:
    """Render the page; a section with errors keeps its input."""
    venue = request.access.venue
    sections: list[dict[str, Any]] = [
        {"name": name, "title": title, "form": (invalid or {}).get(name) or form(instance=venue, prefix=name)}
        for name, (title, form) in SECTIONS.items()
    ]
    context = {"sections": sections, "zones": sorted(zone_names()), "is_refused": bool(invalid)}
    return render(request, "accounts/venue.html", context, status=status)
