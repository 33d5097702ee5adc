"""Webhook endpoint pages: create, edit, rotate, disable and delete."""

from django import forms
from django.contrib import messages
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Subquery
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.api_keys import one_time_secrets
from accounts.dashboard.decorators import PageRequest, page
from accounts.models import EventType, WebhookDelivery, WebhookEndpoint
from accounts.tenancy.permissions import Right
from accounts.webhooks import endpoints, ssrf_guard
from accounts.webhooks.deliveries import NEWEST_FIRST
from accounts.webhooks.openapi import DESCRIPTIONS
from framework.forms.domain_errors import errors_as_messages, errors_on_form
from framework.public_ids import decode

# The page lists at most so many endpoints.
MAX_SHOWN = 100
# The share of delivered events is of the newest finished deliveries: a day of a busy endpoint has too many to count.
RATE_OF = 50
# The newest deliveries that the page shows.
RECENT = 10


class EndpointForm(forms.Form):
    """URL, description and event types of an endpoint."""

    url = forms.CharField(
        label=gettext_lazy("URL"),
        max_length=ssrf_guard.MAX_URL_LENGTH,
        validators=[ssrf_guard.validate_url],
        help_text=gettext_lazy("Example: https://hooks.example.com/tablewire"),
        widget=forms.TextInput(attrs={"inputmode": "url", "autocomplete": "off", "spellcheck": "false"}),
    )
    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=200,
        required=False,
        help_text=gettext_lazy("For your reference: POS, kitchen printer"),
    )
    types = forms.MultipleChoiceField(
        label=gettext_lazy("Events"),
        choices=[
            (kind.value, format_lazy("{}: {}", kind.value, gettext_lazy(DESCRIPTIONS[kind])))
            for kind in EventType
            if kind != EventType.WEBHOOK_PING
        ],
        widget=forms.CheckboxSelectMultiple,
        required=False,
        help_text=gettext_lazy("If none is selected: all events, including types added later"),
    )


class SinceForm(forms.Form):
    """The time since which failed deliveries are resent, in the venue's time zone."""

    since = forms.DateTimeField(
        label=gettext_lazy("Failed since"),
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M"],
    )


def get_endpoint(request: PageRequest, endpoint: str) -> WebhookEndpoint:
    """Return the venue's endpoint with this public id. Raises Http404, also for one of another venue."""
    return get_object_or_404(WebhookEndpoint, venue=request.access.venue, pk=decode("whk", endpoint))


def redirect_to_endpoint(endpoint: WebhookEndpoint, request: PageRequest) -> HttpResponse:
    """Redirect to the endpoint's page."""
    return redirect("webhook", venue=request.access.venue.public_id, endpoint=endpoint.public_id)


@page(Right.DEVELOPERS, section="webhooks")
def list_endpoints(request: PageRequest) -> HttpResponse:
    """List the endpoints and the newest deliveries. Two queries besides those of the layout, one without endpoints."""
    newest = WebhookDelivery.objects.filter(endpoint=OuterRef("pk")).order_by(*NEWEST_FIRST)
    finished = newest.exclude(state=WebhookDelivery.State.PENDING).values("state")[:RATE_OF]
    rows = (
        WebhookEndpoint.objects.filter(venue=request.access.venue)
        .annotate(
            last_state=Subquery(newest.values("state")[:1]),
            last_at=Subquery(newest.values("created_at")[:1]),
            recent_states=ArraySubquery(finished),
            # The index has the order of one endpoint, so the newest of all are among the newest of each.
            recent_ids=ArraySubquery(newest.values("pk")[:RECENT]),
        )
        .order_by("-created_at", "-pk")[:MAX_SHOWN]
    )
    # Each with the percentage of its finished deliveries that arrived, None if there are none.
    shown = [
        (row, 100 * row.recent_states.count("delivered") // len(row.recent_states) if row.recent_states else None)
        for row in rows
    ]
    ids = [pk for row, _percent in shown for pk in row.recent_ids]
    recent = WebhookDelivery.objects.filter(pk__in=ids).select_related("event", "endpoint").defer("event__record")
    context = {"endpoints": shown, "deliveries": recent.order_by(*NEWEST_FIRST)[:RECENT]}
    return render(request, "accounts/webhooks.html", context)


@page(Right.DEVELOPERS, section="webhooks", methods=("GET", "HEAD", "POST"))
def create_endpoint(request: PageRequest) -> HttpResponse:
    """Create an endpoint; the next page shows its secret once."""
    form = EndpointForm(request.POST or None)
    if form.is_valid():
        with errors_on_form(form):
            created, secret = endpoints.create(request.access.venue, **form.cleaned_data)
            one_time_secrets.store(request, secret, of=created.public_id, now=timezone.now())
            return redirect_to_endpoint(created, request)
    return render(request, "accounts/webhook_form.html", {"form": form}, status=400 if form.errors else 200)


@page(Right.DEVELOPERS, section="webhooks", methods=("GET", "HEAD", "POST"))
def edit_endpoint(request: PageRequest, *, endpoint: str) -> HttpResponse:
    row = get_endpoint(request, endpoint)
    initial = {"url": row.url, "description": row.description, "types": row.types}
    form = EndpointForm(request.POST or None, initial=initial)
    if form.is_valid():
        endpoints.update(row, **form.cleaned_data)
        messages.success(request, _("Saved."))
        return redirect_to_endpoint(row, request)
    context = {"form": form, "endpoint": row}
    return render(request, "accounts/webhook_form.html", context, status=400 if form.errors else 200)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def rotate_secret(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Rotate the secret; the endpoint's page shows the new one once."""
    row, now = get_endpoint(request, endpoint), timezone.now()
    with errors_as_messages(request):
        one_time_secrets.store(request, endpoints.rotate_secret(row, now=now), of=row.public_id, now=now)
        messages.success(
            request,
            _(
                "The secret was rotated. Deliveries are signed with both secrets for 24 hours:"
                " update your server by then."
            ),
        )
    return redirect_to_endpoint(row, request)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def set_enabled(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Enable or disable the endpoint."""
    row = get_endpoint(request, endpoint)
    if request.POST.get("to") == "on":
        message = _("The endpoint is enabled.") if endpoints.enable(row) else _("The endpoint was already enabled.")
    elif endpoints.disable(row, now=request.access.venue.now()):
        message = _("The endpoint is disabled. Pending deliveries are marked as failed; you can resend them.")
    else:
        message = _("The endpoint was already disabled.")
    messages.success(request, message)
    return redirect_to_endpoint(row, request)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def send_test_event(request: PageRequest, *, endpoint: str) -> HttpResponse:
    row = get_endpoint(request, endpoint)
    with errors_as_messages(request):
        endpoints.send_test_event(row, actor=request.access.actor, now=request.access.venue.now())
        messages.success(request, _("A test event is being sent."))
    return redirect_to_endpoint(row, request)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def resend_failed(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Resend the deliveries that failed since a time in the venue's time zone."""
    row = get_endpoint(request, endpoint)
    form = SinceForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Enter a date and a time. Nothing was resent."))
        return redirect_to_endpoint(row, request)
    with errors_as_messages(request):
        number = endpoints.resend_failed(row, since=form.cleaned_data["since"], now=request.access.venue.now())
        text = ngettext("%(number)s delivery is being resent.", "%(number)s deliveries are being resent.", number)
        messages.success(request, text % {"number": number})
    return redirect_to_endpoint(row, request)


@page(Right.DEVELOPERS, section="webhooks", methods=("GET", "HEAD", "POST"))
def delete_endpoint(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Ask for confirmation, then delete the endpoint with its deliveries."""
    row = get_endpoint(request, endpoint)
    if request.method == "POST":
        endpoints.delete(row)
        messages.success(request, _("Deleted: %(url)s") % {"url": row.url})
        return redirect("webhooks", venue=request.access.venue.public_id)
    return render(request, "accounts/webhook_remove.html", {"endpoint": row})
