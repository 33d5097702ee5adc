"""API key pages: create, rotate and revoke the keys of a venue. The key itself is shown once."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.api_keys import create, one_time_secrets, usage
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import ApiKey, Scope
from accounts.models.api_keys import OVERLAPS, PREFIX, CreatedApiKey, all_scopes, default_scopes
from accounts.tenancy.permissions import Right
from framework.api.urls import public_url
from framework.forms.domain_errors import errors_on_form
from framework.public_ids import decode

# Inactive keys that the page lists.
MAX_INACTIVE = 50
SCOPE_LABELS = {
    Scope.ORDERS_READ: gettext_lazy("Read orders and the menu"),
    Scope.ORDERS_WRITE: gettext_lazy("Place orders and change their status"),
    Scope.MENU_WRITE: gettext_lazy("Change the menu"),
    Scope.RESERVATIONS_READ: gettext_lazy("Read reservations"),
    Scope.RESERVATIONS_WRITE: gettext_lazy("Create reservations"),
    Scope.WEBHOOKS_READ: gettext_lazy("Read webhook endpoints and their deliveries"),
    Scope.WEBHOOKS_WRITE: gettext_lazy("Create and change webhook endpoints, which outlive the key"),
}
LIFETIMES = {
    "": gettext_lazy("Never"),
    "30": gettext_lazy("In 30 days"),
    "90": gettext_lazy("In 90 days"),
    "365": gettext_lazy("In a year"),
    "day": gettext_lazy("On a specific day"),
}
OVERLAP_LABELS = (
    gettext_lazy("No longer: it stops working now"),
    gettext_lazy("For an hour"),
    gettext_lazy("For a day"),
    gettext_lazy("For a week"),
)


class KeyForm(forms.Form):
    """Name, scopes and expiry of a new key."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=100,
        help_text=gettext_lazy("The application that uses the key: POS, website, kitchen screen"),
    )
    scopes = forms.MultipleChoiceField(
        label=gettext_lazy("Scopes"),
        choices=[(scope.value, format_lazy("{} ({})", label, scope.value)) for scope, label in SCOPE_LABELS.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=default_scopes,
        error_messages={"required": gettext_lazy("Select at least one scope.")},
    )
    expires = forms.ChoiceField(label=gettext_lazy("Expires"), choices=list(LIFETIMES.items()), required=False)
    end_date = forms.DateField(
        label=gettext_lazy("Last day"),
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text=gettext_lazy("The last day on which the key works, in the restaurant's time zone"),
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or {}
        if values.get("expires") == "day" and not values.get("end_date") and "end_date" not in self.errors:
            self.add_error("end_date", _("Enter the last day."))
        return values

    def get_expiry(self, *, now: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the expiry, None for never. Raises ExpiryInPast for the last day of the calendar."""
        expires = self.cleaned_data["expires"]
        if not expires:
            return None
        if expires != "day":
            return now + timedelta(days=int(expires))
        try:
            after = self.cleaned_data["end_date"] + timedelta(days=1)
            return datetime(after.year, after.month, after.day, tzinfo=zone)
        except OverflowError as error:
            raise create.ExpiryInPast(_("Choose an earlier day."), param="end_date") from error


class RotationForm(forms.Form):
    """How long a rotated key keeps working."""

    overlap = forms.TypedChoiceField(
        label=gettext_lazy("The old key still works"),
        choices=[(str(number), label) for number, label in enumerate(OVERLAP_LABELS)],
        coerce=lambda number: OVERLAPS[int(number)],
        initial="2",
        widget=forms.RadioSelect,
        help_text=gettext_lazy("Choose enough time to update every application that uses the old key"),
    )


def get_key(request: PageRequest, key: str) -> ApiKey:
    """Return the venue's key with this public id. Raises Http404, also for a key of another venue."""
    return get_object_or_404(
        ApiKey.objects.issued().select_related("venue"), venue=request.access.venue, pk=decode(PREFIX, key)
    )


def redirect_to_new_key(request: PageRequest, created: CreatedApiKey, now: datetime) -> HttpResponse:
    """Redirect to the page that shows the new key, once, in this session only."""
    one_time_secrets.store(request, created.text, of=created.row.public_id, now=now)
    return redirect("key-shown", venue=request.access.venue.public_id, key=created.row.public_id)


@page(Right.DEVELOPERS, section="keys")
def list_keys(request: PageRequest) -> HttpResponse:
    """List the active keys, and the inactive ones in a collapsed section. Two queries besides those of the layout."""
    now = timezone.now()
    keys = ApiKey.objects.issued().filter(venue=request.access.venue)
    active = list(keys.active(now).order_by("-created_at", "-pk"))
    inactive = list(keys.exclude(pk__in=[key.pk for key in active]).order_by("-created_at", "-pk")[: MAX_INACTIVE + 1])
    family_usage = usage.get_family_usage(active)
    oldest = {key.family: key for key in reversed(active)}
    context = {
        "address": public_url("/api/v1/orders"),
        "rows": [(key, family_usage[key.family], oldest[key.family].pk != key.pk) for key in active],
        "inactive": inactive[:MAX_INACTIVE],
        "has_more_inactive": len(inactive) > MAX_INACTIVE,
        "now": now,
    }
    return render(request, "accounts/api_keys.html", context)


@page(Right.DEVELOPERS, section="keys", methods=("GET", "HEAD", "POST"))
def create_key(request: PageRequest) -> HttpResponse:
    """Create a key, and redirect to the page that shows it."""
    form = KeyForm(request.POST or None)
    if form.is_valid():
        now, venue = timezone.now(), request.access.venue
        with errors_on_form(form):
            created = create.create_api_key(
                venue,
                name=form.cleaned_data["name"],
                scopes=[scope for scope in all_scopes() if scope in form.cleaned_data["scopes"]],
                expires_at=form.get_expiry(now=now, zone=ZoneInfo(venue.timezone)),
                has_data_access=request.access.may(Right.DATA),
                now=now,
            )
            return redirect_to_new_key(request, created, now)
    return render(request, "accounts/api_key_new.html", {"form": form}, status=400 if form.errors else 200)


@page(Right.DEVELOPERS, section="keys")
def show_new_key(request: PageRequest, key: str) -> HttpResponse:
    """Show a new key once; a second visit shows that it was already shown."""
    row = get_key(request, key)
    text = one_time_secrets.take(request, of=row.public_id, now=timezone.now())
    context = {"key": row, "text": text, "address": public_url("/api/v1/orders")}
    return render(request, "accounts/api_key_created.html", context)


@page(Right.DEVELOPERS, section="keys", methods=("GET", "HEAD", "POST"))
def rotate_key(request: PageRequest, key: str) -> HttpResponse:
    """Ask for the overlap, rotate the key, and redirect to the page that shows the new one."""
    row, now = get_key(request, key), timezone.now()
    form = RotationForm(request.POST or None)
    if form.is_valid():
        with errors_on_form(form):
            created = row.rotate(
                overlap=form.cleaned_data["overlap"], now=now, has_data_access=request.access.may(Right.DATA)
            )
            return redirect_to_new_key(request, created, now)
    context = {"form": form, "key": row}
    return render(request, "accounts/api_key_rotate.html", context, status=400 if form.errors else 200)


@page(Right.DEVELOPERS, section="keys", methods=("GET", "HEAD", "POST"))
def revoke_key(request: PageRequest, key: str) -> HttpResponse:
    """Ask for confirmation, then revoke the key."""
    row, now = get_key(request, key), timezone.now()
    if request.method == "POST":
        if row.revoke(now=now):
            messages.success(
                request, _("%(key)s was revoked. Requests with it now fail with 401.") % {"key": row.masked}
            )
        else:
            messages.info(request, _("%(key)s was already revoked.") % {"key": row.masked})
        return redirect("keys", venue=request.access.venue.public_id)
    return render(request, "accounts/api_key_revoke.html", {"key": row, "is_inactive": row.state(now) != "active"})
