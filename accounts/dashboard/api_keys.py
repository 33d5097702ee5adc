"""API keys: made, replaced and ended by the venue's own developers; the text of each is shown once."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from accounts.api_keys import create, one_time_secrets, usage
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import OVERLAPS, ApiKey, IssuedKey, Scope, every_scope
from accounts.models.api_keys import PREFIX
from accounts.tenancy.permissions import Right
from framework.api.urls import public_url
from framework.errors import Refusal
from framework.public_ids import decode

# Ended keys stay for the history; the newest of them are shown.
MOST_ENDED = 50
WORDS_OF_SCOPES = {
    Scope.ORDERS_READ: "Read orders",
    Scope.ORDERS_WRITE: "Place orders and change their status",
    Scope.RESERVATIONS_READ: "Read reservations",
    Scope.RESERVATIONS_WRITE: "Make reservations",
}
LIFETIMES = {"": "Never", "30": "In 30 days", "90": "In 90 days", "365": "In a year", "day": "On a day"}
WORDS_OF_OVERLAPS = ("Not at all: it ends now", "For an hour", "For a day", "For a week")


class KeyForm(forms.Form):
    """What people say of a key that they want."""

    name = forms.CharField(max_length=100, help_text="Which program uses it: till, website, kitchen screen")
    scopes = forms.MultipleChoiceField(
        label="It may",
        choices=[(scope.value, f"{words} ({scope.value})") for scope, words in WORDS_OF_SCOPES.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=every_scope,
        error_messages={"required": "Tick what the key is for."},
    )
    ends = forms.ChoiceField(label="It ends", choices=list(LIFETIMES.items()), required=False)
    end_date = forms.DateField(
        label="Day",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
        input_formats=["%Y-%m-%d"],
        help_text="If it ends on a day: its last one, by the venue's clock",
    )

    def clean(self) -> dict[str, Any]:
        """Ask for the day where one is meant."""
        values: dict[str, Any] = super().clean() or {}
        if values.get("ends") == "day" and not values.get("end_date") and "end_date" not in self.errors:
            self.add_error("end_date", "Say on which day.")
        return values

    def end(self, *, now: datetime, zone: ZoneInfo) -> datetime | None:
        """When the key is to end, None for never. Raises IsOver for a day that has no next."""
        ends = self.cleaned_data["ends"]
        if not ends:
            return None
        if ends != "day":
            return now + timedelta(days=int(ends))
        try:
            after = self.cleaned_data["end_date"] + timedelta(days=1)
            return datetime(after.year, after.month, after.day, tzinfo=zone)
        except OverflowError as error:
            raise create.IsOver("Choose an earlier day.", param="expires_at") from error


class RotationForm(forms.Form):
    """How long a key that is replaced may still be used."""

    overlap = forms.TypedChoiceField(
        label="The old key still works",
        choices=[(str(number), words) for number, words in enumerate(WORDS_OF_OVERLAPS)],
        coerce=lambda number: OVERLAPS[int(number)],
        initial="2",
        widget=forms.RadioSelect,
        help_text="Long enough to put the new key into every program that uses the old one",
    )


def found(request: PageRequest, key: str) -> ApiKey:
    """The venue's key of this public id; another's is as if it were not there."""
    return get_object_or_404(
        ApiKey.objects.select_related("venue"), venue=request.access.venue, pk=decode(PREFIX, key)
    )


def to_list(request: PageRequest) -> HttpResponse:
    """Back to the list."""
    return redirect("keys", venue=request.access.venue.public_id)


def to_new_key(request: PageRequest, issued: IssuedKey, now: datetime) -> HttpResponse:
    """To the page that shows the text of a new key, which waits for this browser alone."""
    one_time_secrets.keep(request, issued.text, of=issued.row.public_id, now=now)
    return redirect("key-shown", venue=request.access.venue.public_id, key=issued.row.public_id)


@page(Right.DEVELOPERS, section="keys")
def listed(request: PageRequest) -> HttpResponse:
    """All keys that work, and folded away those that have ended. Two queries beside those of the frame."""
    now = timezone.now()
    keys = ApiKey.objects.filter(venue=request.access.venue)
    working = list(keys.usable(now).order_by("-created_at", "-pk"))
    ended = list(keys.exclude(pk__in=[key.pk for key in working]).order_by("-created_at", "-pk")[: MOST_ENDED + 1])
    used = usage.of_families(working)
    replaced = {key.family: key for key in reversed(working)}
    rows = [(key, used[key.family], replaced[key.family].pk != key.pk) for key in working]
    shown = {"rows": rows, "ended": ended[:MOST_ENDED], "has_more_ended": len(ended) > MOST_ENDED, "now": now}
    return render(request, "accounts/api_keys.html", shown)


@page(Right.DEVELOPERS, section="keys", methods=("GET", "HEAD", "POST"))
def add(request: PageRequest) -> HttpResponse:
    """Ask what the key is for, make it, and go where it is shown."""
    form = KeyForm(request.POST or None)
    if form.is_valid():
        now, venue = timezone.now(), request.access.venue
        try:
            issued = create.issue(
                venue,
                name=form.cleaned_data["name"],
                scopes=[scope for scope in every_scope() if scope in form.cleaned_data["scopes"]],
                expires_at=form.end(now=now, zone=ZoneInfo(venue.timezone)),
                now=now,
            )
        except Refusal as refusal:
            form.add_error("end_date" if refusal.param else None, refusal.message)
        else:
            return to_new_key(request, issued, now)
    return render(request, "accounts/api_key_new.html", {"form": form}, status=400 if form.errors else 200)


@page(Right.DEVELOPERS, section="keys")
def show(request: PageRequest, key: str) -> HttpResponse:
    """A new key's text, this once; looked at again the page says that it is gone."""
    mine = found(request, key)
    text = one_time_secrets.take(request, of=mine.public_id, now=timezone.now())
    shown = {"key": mine, "text": text, "address": public_url("/api/v1/orders")}
    return render(request, "accounts/api_key_created.html", shown)


@page(Right.DEVELOPERS, section="keys", methods=("GET", "HEAD", "POST"))
def rotate(request: PageRequest, key: str) -> HttpResponse:
    """Ask for the overlap, replace the key, and go where the new one is shown."""
    mine, now = found(request, key), timezone.now()
    form = RotationForm(request.POST or None)
    if form.is_valid():
        try:
            issued = mine.rotate(overlap=form.cleaned_data["overlap"], now=now)
        except Refusal as refusal:
            form.add_error(None, refusal.message)
        else:
            return to_new_key(request, issued, now)
    return render(
        request, "accounts/api_key_rotate.html", {"form": form, "key": mine}, status=400 if form.errors else 200
    )


@page(Right.DEVELOPERS, section="keys", methods=("GET", "HEAD", "POST"))
def revoke(request: PageRequest, key: str) -> HttpResponse:
    """Say what uses the key, and end it for good."""
    mine, now = found(request, key), timezone.now()
    if request.method == "POST":
        if mine.revoke(now=now):
            messages.success(request, f"{mine.shown} is revoked. Calls with it are answered 401 from now on.")
        else:
            messages.info(request, f"{mine.shown} was revoked before.")
        return to_list(request)
    return render(request, "accounts/api_key_revoke.html", {"key": mine, "is_over": mine.state(now) != "active"})
