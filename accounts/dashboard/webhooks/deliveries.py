"""Webhook deliveries of an endpoint: list, detail with live updates, and resend."""

import json
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.api_keys import one_time_secrets
from accounts.dashboard.decorators import PageRequest, page
from accounts.dashboard.webhooks.endpoints import SinceForm, get_endpoint
from accounts.models import EventType, WebhookDelivery, WebhookEndpoint
from accounts.tenancy.permissions import Right
from accounts.webhooks import endpoints, http_client
from accounts.webhooks.deliveries import MAX_SEARCHED, NEWEST_FIRST, filter_newest
from framework.forms.domain_errors import errors_as_messages

PAGE_SIZE = 25
State = WebhookDelivery.State


class FilterForm(forms.Form):
    """Filters of the list; an unknown choice means all."""

    state = forms.ChoiceField(
        label=gettext_lazy("State"), choices=[("", gettext_lazy("All")), *State.choices], required=False
    )
    type = forms.ChoiceField(
        label=gettext_lazy("Event"),
        choices=[("", gettext_lazy("All")), *[(kind.value, kind.value) for kind in EventType]],
        required=False,
    )


def build_page(endpoint: WebhookEndpoint, query: QueryDict, *, now: datetime) -> dict[str, Any]:
    """Return the context of a page, newest first, after the delivery `before`. One or two queries."""
    form = FilterForm(query)
    form.is_valid()
    columns = {"state": "state", "type": "event__type"}
    conditions = {columns[name]: value for name, value in form.cleaned_data.items() if value}
    rows = WebhookDelivery.objects.filter(endpoint=endpoint).order_by(*NEWEST_FIRST)
    if before := query.get("before"):
        try:
            last = rows.get(pk=before)
        except (ValidationError, WebhookDelivery.DoesNotExist) as error:
            raise Http404 from error
        # The index serves the condition on `created_at` alone.
        rows = rows.filter(Q(created_at__lt=last.created_at) | Q(pk__lt=last.pk), created_at__lte=last.created_at)
    rows = filter_newest(rows, **conditions)
    page_rows = list(rows.select_related("event")[: PAGE_SIZE + 1])
    filters = {name: value for name, value in query.items() if name in form.fields and value}
    more = filters | {"before": str(page_rows[PAGE_SIZE - 1].pk)} if len(page_rows) > PAGE_SIZE else {}
    return {
        "filters": form,
        "is_filtered": bool(conditions),
        "deliveries": page_rows[:PAGE_SIZE],
        "more": urlencode(more),
        "current": urlencode(filters | ({"before": before} if before else {})),
        "newest": urlencode(filters),
        "is_first": not before,
        "poll_s": get_poll_interval_s(page_rows[:PAGE_SIZE], now),
        "max_searched": MAX_SEARCHED,
    }


def get_poll_interval_s(rows: list[WebhookDelivery], now: datetime) -> int:
    """Return the polling interval in seconds, 0 if no delivery is pending."""
    soon = now + timedelta(minutes=1)
    waits = [row.next_attempt_at for row in rows if row.state == State.PENDING and row.next_attempt_at]
    if not waits:
        return 0
    return 2 if min(waits) < soon else 30


@page(Right.DEVELOPERS, section="webhooks")
def show_endpoint(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """Show the endpoint with its deliveries; an htmx request gets the deliveries only."""
    row = get_endpoint(request, endpoint)
    context = build_page(row, request.GET, now=request.access.venue.now()) | {"endpoint": row}
    if request.headers.get("HX-Request") == "true":
        return render(request, "accounts/webhook_rows.html", context | {"is_partial": True})
    now = timezone.now()
    week_ago = (now - timedelta(days=7)).astimezone(ZoneInfo(request.access.venue.timezone))
    context |= {
        "secret": one_time_secrets.take(request, of=row.public_id, now=now),
        "resend_form": SinceForm(initial={"since": week_ago.replace(tzinfo=None)}),
        "is_rotating": bool(row.old_secret_until and row.old_secret_until > now),
    }
    return render(request, "accounts/webhook.html", context)


def get_delivery(request: PageRequest, endpoint: str, delivery: UUID) -> WebhookDelivery:
    """Return the delivery of this endpoint and venue with its event. Raises Http404."""
    rows = WebhookDelivery.objects.select_related("event", "endpoint")
    return get_object_or_404(rows, endpoint=get_endpoint(request, endpoint), pk=delivery)


@page(Right.DEVELOPERS, section="webhooks")
def show_delivery(request: PageRequest, *, endpoint: str, delivery: UUID) -> HttpResponse:
    """Show one delivery: body, attempts and last response."""
    row = get_delivery(request, endpoint, delivery)
    context = {
        "delivery": row,
        "endpoint": row.endpoint,
        "body": json.dumps(json.loads(http_client.render_body(row.event)), indent=2, ensure_ascii=False),
        "poll_s": get_poll_interval_s([row], request.access.venue.now()),
    }
    if request.headers.get("HX-Request") == "true":
        return render(request, "accounts/webhook_delivery_facts.html", context | {"is_partial": True})
    return render(request, "accounts/webhook_delivery.html", context)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def resend(request: PageRequest, *, endpoint: str, delivery: UUID) -> HttpResponse:
    row = get_delivery(request, endpoint, delivery)
    with errors_as_messages(request):
        if endpoints.resend(row, now=request.access.venue.now()):
            messages.success(request, _("%(event)s is being resent.") % {"event": row.event.public_id})
        else:
            messages.error(request, _("%(event)s is being sent right now.") % {"event": row.event.public_id})
    return redirect("delivery", venue=request.access.venue.public_id, endpoint=endpoint, delivery=row.pk)
