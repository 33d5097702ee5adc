"""Endpoints of webhooks: kept by the customer's developers, with what was sent to each and what came back."""

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone

from accounts.api_keys import one_time_secrets
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import EventType, WebhookDelivery, WebhookEndpoint
from accounts.tenancy.permissions import Right
from accounts.webhooks import endpoints, ssrf_guard
from accounts.webhooks.openapi import WORDS
from framework.errors import Refusal
from framework.public_ids import decode

# So many endpoints a venue has at most on this page; more are an accident.
MOST_SHOWN = 100
TYPES = [kind for kind in EventType if kind != EventType.WEBHOOK_PING]


class EndpointForm(forms.Form):
    """What people say of an endpoint."""

    url = forms.CharField(
        label="Address",
        max_length=ssrf_guard.LONGEST_URL,
        help_text="Where we POST to: https://hooks.example.com/tablewire",
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
    )
    description = forms.CharField(max_length=200, required=False, help_text="For you: the till, the kitchen printer")
    types = forms.MultipleChoiceField(
        label="Events",
        choices=[(kind.value, f"{kind.value}: {WORDS[kind]}") for kind in TYPES],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text="None ticked: all of them, also types that are yet to come",
    )

    def clean_url(self) -> str:
        """An address that a webhook may have."""
        url: str = self.cleaned_data["url"]
        try:
            ssrf_guard.read(url)
        except ssrf_guard.BadDestination as refusal:
            raise ValidationError(refusal.message) from refusal
        return url


class SinceForm(forms.Form):
    """From when on failed deliveries are sent again, by the venue's clock."""

    since = forms.DateTimeField(
        label="Failed since",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
    )


def found(request: PageRequest, endpoint: str) -> WebhookEndpoint:
    """The venue's endpoint of this public id; another's is as if it were not there."""
    return get_object_or_404(WebhookEndpoint, venue=request.access.venue, pk=decode("whk", endpoint))


def back(endpoint: WebhookEndpoint, request: PageRequest) -> HttpResponse:
    """To the endpoint's own page."""
    return redirect("webhook", venue=request.access.venue.public_id, endpoint=endpoint.public_id)


@page(Right.DEVELOPERS, section="webhooks")
def listed(request: PageRequest) -> HttpResponse:
    """All endpoints of the venue, with the last delivery of each. One query beside those of the frame."""
    newest = WebhookDelivery.objects.filter(endpoint=OuterRef("pk")).order_by("-created_at", "-pk")
    rows = (
        WebhookEndpoint.objects.filter(venue=request.access.venue)
        .annotate(last_state=Subquery(newest.values("state")[:1]), last_at=Subquery(newest.values("created_at")[:1]))
        .order_by("-created_at", "-pk")[:MOST_SHOWN]
    )
    return render(request, "accounts/webhooks.html", {"endpoints": rows})


@page(Right.DEVELOPERS, section="webhooks", methods=("GET", "HEAD", "POST"))
def add(request: PageRequest) -> HttpResponse:
    """Make an endpoint; its secret is shown on the page that follows, once."""
    form = EndpointForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        made, secret = endpoints.create(request.access.venue, **form.cleaned_data)
        one_time_secrets.keep(request, secret, of=made.public_id, now=timezone.now())
        return back(made, request)
    return render(
        request, "accounts/webhook_form.html", {"form": form}, status=400 if request.method == "POST" else 200
    )


@page(Right.DEVELOPERS, section="webhooks", methods=("GET", "HEAD", "POST"))
def edit(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Change what people say of it."""
    row = found(request, endpoint)
    shown = {"url": row.url, "description": row.description, "types": row.types}
    form = EndpointForm(request.POST if request.method == "POST" else None, initial=shown)
    if form.is_valid():
        endpoints.change(row, **form.cleaned_data)
        messages.success(request, "Saved.")
        return back(row, request)
    return render(
        request,
        "accounts/webhook_form.html",
        {"form": form, "endpoint": row},
        status=400 if request.method == "POST" else 200,
    )


def act(request: PageRequest, endpoint: str, deed: Callable[[WebhookEndpoint, datetime], str]) -> HttpResponse:
    """Do something with an endpoint, say what came of it, and go back to its page."""
    row = found(request, endpoint)
    try:
        messages.success(request, deed(row, timezone.now()))
    except Refusal as refusal:
        messages.error(request, refusal.message)
    return back(row, request)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def rotate(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Give it a new secret, shown on its page once."""

    def deed(row: WebhookEndpoint, now: datetime) -> str:
        one_time_secrets.keep(request, endpoints.rotate(row, now=now), of=row.public_id, now=now)
        return "There is a new secret. The old one signs too for 24 hours: change your receiver by then."

    return act(request, endpoint, deed)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def switch(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Switch it on or off, whichever is asked for."""

    def deed(row: WebhookEndpoint, now: datetime) -> str:
        if request.POST.get("to") == "on":
            return "Switched on." if endpoints.enable(row) else "It was on already."
        if endpoints.disable(row, now=now):
            return "Switched off. What waited for it counts as failed, and can be sent again."
        return "It was off already."

    return act(request, endpoint, deed)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def ping(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Send a test event."""

    def deed(row: WebhookEndpoint, now: datetime) -> str:
        endpoints.ping(row, actor=request.access.actor, now=now)
        return "A test event is on its way."

    return act(request, endpoint, deed)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def replay_failed(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Send again what failed since a moment of the venue's clock."""
    with timezone.override(ZoneInfo(request.access.venue.timezone)):
        form = SinceForm(request.POST)
        is_valid = form.is_valid()

    def deed(row: WebhookEndpoint, now: datetime) -> str:
        number = endpoints.replay_failed(row, since=form.cleaned_data["since"], now=now)
        return f"{number} on their way again." if number != 1 else "1 is on its way again."

    if not is_valid:
        messages.error(request, "Say since when, as a day and a time: nothing was sent again.")
        return back(found(request, endpoint), request)
    return act(request, endpoint, deed)


@page(Right.DEVELOPERS, section="webhooks", methods=("GET", "HEAD", "POST"))
def remove(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Ask, and then delete it with its deliveries."""
    row = found(request, endpoint)
    if request.method == "POST":
        endpoints.remove(row)
        messages.success(request, f"Removed: {row.url}")
        return redirect("webhooks", venue=request.access.venue.public_id)
    return render(request, "accounts/webhook_remove.html", {"endpoint": row})


def since_week(now: datetime, request: PageRequest) -> SinceForm:
    """The form, filled in with a week ago."""
    week_ago = (now - timedelta(days=7)).astimezone(ZoneInfo(request.access.venue.timezone))
    return SinceForm(initial={"since": week_ago.replace(tzinfo=None)})


def delivery_of(request: PageRequest, endpoint: str, delivery: UUID) -> WebhookDelivery:
    """The delivery, of this endpoint of this venue, with its event."""
    rows = WebhookDelivery.objects.select_related("event", "endpoint")
    row = rows.filter(endpoint=found(request, endpoint), pk=delivery).first()
    if row is None:
        raise Http404
    return row
