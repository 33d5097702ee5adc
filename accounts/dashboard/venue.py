"""The settings page of a venue."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.forms import modelform_factory
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.forms.venue import SettingsForm
from accounts.models import Venue
from accounts.tenancy.permissions import Right
from framework.timezones import zone_names

# The title and the fields of each section.
SECTIONS: Mapping[str, tuple[str | Promise, tuple[str, ...]]] = {
    "details": (gettext_lazy("Restaurant"), ("name", "address", "phone", "timezone", "language")),
    "guests": (gettext_lazy("Booking page"), ("is_bookable_online", "proves_guests")),
    "reservations": (
        gettext_lazy("Reservations"),
        ("max_days_ahead", "auto_confirm_max_party", "when_full", "mails_guests", "forgets_guests_after_days"),
    ),
    "orders": (gettext_lazy("Orders"), ("currency", "prices_include_tax", "payment_methods")),
}
FORMS: Mapping[str, type[Any]] = {
    name: modelform_factory(Venue, form=SettingsForm, fields=fields) for name, (_, fields) in SECTIONS.items()
}


@page(Right.VENUE, section="venue")
def show(request: PageRequest) -> HttpResponse:
    """Show all sections, each with its own form."""
    return render_page(request)


@page(Right.VENUE, section="venue", methods=("POST",))
def save_section(request: PageRequest, *, part: str) -> HttpResponse:
    if part not in SECTIONS:
        raise Http404
    # The layout shows `request.access.venue`; the form gets its own copy, so that invalid input does not show there.
    form = FORMS[part](request.POST, instance=Venue.objects.get(pk=request.access.venue.pk), prefix=part)
    if form.is_valid() and form.try_save():
        text = _("%(section)s: saved.") if form.changed_data else _("%(section)s: no changes.")
        messages.success(request, text % {"section": SECTIONS[part][0]})
        return redirect(f"{reverse('venue-settings', kwargs={'venue': request.access.venue.public_id})}#{part}")
    return render_page(request, {part: form})


def render_page(request: PageRequest, invalid: Mapping[str, SettingsForm] | None = None) -> HttpResponse:
    """Render the page; a section with errors keeps its input."""
    venue = request.access.venue
    forms = {name: form(instance=venue, prefix=name) for name, form in FORMS.items()} | dict(invalid or {})
    context: dict[str, Any] = {
        "sections": [{"name": name, "title": SECTIONS[name][0], "form": form} for name, form in forms.items()],
        "zones": sorted(zone_names()),
        "is_refused": bool(invalid),
    }
    return render(request, "accounts/venue.html", context, status=400 if invalid else 200)
