"""The settings page of a venue."""

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.db import transaction
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
# The sections of each page.
TABS: Mapping[str, list[str]] = {"venue": ["details", "reservations", "orders"], "booking": ["guests"]}
FORMS: Mapping[str, type[Any]] = {
    name: modelform_factory(Venue, form=SettingsForm, fields=fields) for name, (_, fields) in SECTIONS.items()
}


@page(Right.VENUE, section="venue")
def show(request: PageRequest, tab: str = "venue") -> HttpResponse:
    """Show the sections of a tab."""
    return render_page(request, tab)


@page(Right.VENUE, section="venue", methods=("POST",))
def save_settings(request: PageRequest) -> HttpResponse:
    """Save the sections that were sent: all of them, or none if one has an error."""
    # The layout shows `request.access.venue`; the forms get their own copy, so that invalid input does not show there.
    venue, sent = Venue.objects.get(pk=request.access.venue.pk), request.POST.getlist("section")
    forms = {name: FORMS[name](request.POST, instance=venue, prefix=name) for name in SECTIONS if name in sent}
    if not forms:
        raise Http404
    are_valid = [form.is_valid() for form in forms.values()]
    with transaction.atomic():
        is_saved = all(are_valid) and all(form.try_save() for form in forms.values())
        transaction.set_rollback(not is_saved)
    if not is_saved:
        return render_page(request, "booking" if sent == TABS["booking"] else "venue", forms)
    changed = [name for name, form in forms.items() if form.changed_data]
    titles = ", ".join(str(SECTIONS[name][0]) for name in changed)
    messages.success(request, _("%(section)s: saved.") % {"section": titles} if changed else _("Nothing was changed."))
    page_name = "booking-settings" if sent == TABS["booking"] else "venue-settings"
    url = reverse(page_name, kwargs={"venue": request.access.venue.public_id})
    return redirect(f"{url}#{changed[0]}" if changed else url)


def render_page(request: PageRequest, tab: str, refused: Mapping[str, SettingsForm] | None = None) -> HttpResponse:
    """Render the tab, and the refused sections, which keep their input."""
    venue, refused = request.access.venue, refused or {}
    forms = {
        name: refused.get(name) or form(instance=venue, prefix=name)
        for name, form in FORMS.items()
        if name in TABS[tab] or name in refused
    }
    context: dict[str, Any] = {
        "tab": tab,
        "sections": [{"name": name, "title": SECTIONS[name][0], "form": form} for name, form in forms.items()],
        "zones": sorted(zone_names()),
        "is_refused": bool(refused),
    }
    return render(request, "accounts/venue.html", context, status=400 if refused else 200)
