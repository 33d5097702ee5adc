"""Where people say how their venue works: what it is called, what it sells in, and whom it takes."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from accounts.dashboard.decorators import PageRequest, page
from accounts.dashboard.venue_form import SettingsForm
from accounts.models import Venue
from accounts.tenancy.permissions import Right
from framework.timezones import zones


class DetailsForm(SettingsForm):
    """What it is, and where."""

    class Meta:
        model = Venue
        fields = ["name", "address", "phone", "timezone"]
        labels = {"timezone": "Time zone"}
        help_texts = {"timezone": "The wall clock of this venue: Europe/Rome"}
        widgets = {"timezone": forms.TextInput(attrs={"list": "zones", "autocomplete": "off"})}


class OrdersForm(SettingsForm):
    """What it sells in."""

    class Meta:
        model = Venue
        fields = ["currency", "prices_include_tax", "payment_methods"]
        labels = {"payment_methods": "Payment labels", "prices_include_tax": "Prices on the menu include tax"}
        help_texts = {
            "currency": "ISO 4217: EUR. It stays while dishes are priced in it",
            "prices_include_tax": "Off: tax is added to them on each order",
            "payment_methods": "Labels that orders may carry, separated by commas: card, cash. Empty: any",
        }


class ReservationsForm(SettingsForm):
    """Whom it takes, and how far ahead."""

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
            "max_days_ahead": "Days ahead",
            "auto_confirm_max_party": "Largest party confirmed at once",
            "when_full": "When no table is free",
            "mails_guests": "Mail guests",
            "forgets_guests_after_days": "Forget guests after days",
        }
        help_texts = {
            "forgets_guests_after_days": "So many days after their last reservation guests are erased, with what was"
            " noted of them; nobody can undo that. Empty: never"
        }


class GuestsPageForm(SettingsForm):
    """Whether guests book by themselves."""

    class Meta:
        model = Venue
        fields = ["is_bookable_online", "proves_guests"]
        labels = {
            "is_bookable_online": "Guests may book online",
            "proves_guests": "Ask guests to confirm by mail",
        }


SECTIONS: Mapping[str, tuple[str, type[SettingsForm]]] = {
    "details": ("Restaurant", DetailsForm),
    "orders": ("Orders", OrdersForm),
    "reservations": ("Reservations", ReservationsForm),
    "guests": ("Guests' page", GuestsPageForm),
}


@page(Right.VENUE, section="venue")
def show(request: PageRequest) -> HttpResponse:
    """All sections, each with a form of its own."""
    return answer(request)


@page(Right.VENUE, section="venue", methods=("POST",))
def store(request: PageRequest, *, part: str) -> HttpResponse:
    """Store one section."""
    if part not in SECTIONS:
        raise Http404
    title, form_class = SECTIONS[part]
    # The shell shows the venue's name: what is refused stays in the form.
    form = form_class(request.POST, instance=Venue.objects.get(pk=request.access.venue.pk), prefix=part)
    if form.is_valid() and form.stored():
        messages.success(request, f"{title}: saved." if form.changed_data else f"{title}: nothing was changed.")
        return redirect(f"{reverse('venue-settings', kwargs={'venue': request.access.venue.public_id})}#{part}")
    return answer(request, {part: form}, status=400)


def answer(request: PageRequest, refused: Mapping[str, SettingsForm] | None = None, status: int = 200) -> HttpResponse:
    """The page; of a section that was refused, what was typed."""
    venue = request.access.venue
    parts: list[dict[str, Any]] = [
        {"name": name, "title": title, "form": (refused or {}).get(name) or form(instance=venue, prefix=name)}
        for name, (title, form) in SECTIONS.items()
    ]
    told = {"parts": parts, "zones": sorted(zones()), "is_refused": bool(refused)}
    return render(request, "accounts/venue.html", told, status=status)
