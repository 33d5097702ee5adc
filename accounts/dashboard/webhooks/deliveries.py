"""What was sent to an endpoint, and what came back: listed, live while it is on its way, and sent again."""

import json
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.api_keys import one_time_secrets
from accounts.dashboard.decorators import PageRequest, page
from accounts.dashboard.webhooks.endpoints import delivery_of, found, since_week
from accounts.models import EventType, WebhookDelivery, WebhookEndpoint
from accounts.tenancy.permissions import Right
from accounts.webhooks import endpoints
from accounts.webhooks import http_client as sending
from framework.errors import Refusal

A_PAGE = 25
# With filters only so many are looked through: of millions, those that fit may be far apart.
MOST_SEARCHED = 10_000
State = WebhookDelivery.State


class FilterForm(forms.Form):
    """Which deliveries are shown; what is none of the choices counts as all."""

    state = forms.ChoiceField(choices=[("", "All"), *[(state.value, state.label) for state in State]], required=False)
    type = forms.ChoiceField(
        label="Event", choices=[("", "All"), *[(kind.value, kind.value) for kind in EventType]], required=False
    )

    def asked(self) -> dict[str, str]:
        """What is asked for, in the model's words."""
        self.is_valid()
        named = {"state": "state", "type": "event__type"}
        return {column: self.cleaned_data[name] for name, column in named.items() if self.cleaned_data.get(name)}


def page_of(endpoint: WebhookEndpoint, query: QueryDict) -> dict[str, Any]:
    """A page of deliveries, newest first, from behind the one that `before` names. One query, or two."""
    form = FilterForm(query)
    asked = form.asked()
    rows = WebhookDelivery.objects.filter(endpoint=endpoint).order_by("-created_at", "-pk")
    if before := query.get("before"):
        last = row_of(rows, before)
        # The first condition is the one that an index answers.
        rows = rows.filter(created_at__lte=last.created_at)
        rows = rows.filter(Q(created_at__lt=last.created_at) | Q(pk__lt=last.pk))
    if asked:
        rows = rows.filter(pk__in=rows.values("pk")[:MOST_SEARCHED]).filter(**asked)
    shown = list(rows.select_related("event")[: A_PAGE + 1])
    kept = {name: value for name, value in query.items() if name in form.fields and value}
    more = kept | {"before": str(shown[A_PAGE - 1].pk)} if len(shown) > A_PAGE else {}
    return {
        "filters": form,
        "is_filtered": bool(asked),
        "deliveries": shown[:A_PAGE],
        "more": urlencode(more),
        "again": urlencode(kept | ({"before": before} if before else {})),
        "newest": urlencode(kept),
        "is_first": not before,
        "pause_s": pause_s(shown[:A_PAGE], timezone.now()),
        "most_searched": MOST_SEARCHED,
    }


def row_of(rows: QuerySet[WebhookDelivery], key: str) -> WebhookDelivery:
    """The delivery at which the last page ended."""
    try:
        row = rows.filter(pk=UUID(key)).first()
    except ValueError as error:
        raise Http404 from error
    if row is None:
        raise Http404
    return row


def pause_s(rows: list[WebhookDelivery], now: datetime) -> int:
    """In how many seconds the list is worth another look; 0 where nothing in it is on its way."""
    soon = now + timedelta(minutes=1)
    waits = [row.next_try_at for row in rows if row.state == State.PENDING and row.next_try_at]
    if not waits:
        return 0
    return 2 if min(waits) < soon else 30


@page(Right.DEVELOPERS, section="webhooks")
def show(request: PageRequest, *, endpoint: str) -> HttpResponse:
    """The endpoint with its deliveries; to htmx, the deliveries alone."""
    row = found(request, endpoint)
    told = page_of(row, request.GET) | {"endpoint": row}
    if request.headers.get("HX-Request") == "true":
        return render(request, "accounts/webhook_rows.html", told | {"is_part": True})
    now = timezone.now()
    secret = one_time_secrets.take(request, of=row.public_id, now=now)
    is_rotating = bool(row.old_secret_until and row.old_secret_until > now)
    told |= {"secret": secret, "since": since_week(now, request), "is_rotating": is_rotating}
    return render(request, "accounts/webhook.html", told)


@page(Right.DEVELOPERS, section="webhooks")
def detail(request: PageRequest, *, endpoint: str, delivery: UUID) -> HttpResponse:
    """One delivery: what was sent, how often, and what came back."""
    row = delivery_of(request, endpoint, delivery)
    told = {
        "delivery": row,
        "endpoint": row.endpoint,
        "body": json.dumps(json.loads(sending.body_of(row.event)), indent=2, ensure_ascii=False),
        "pause_s": pause_s([row], timezone.now()),
    }
    if request.headers.get("HX-Request") == "true":
        return render(request, "accounts/webhook_delivery_facts.html", told | {"is_part": True})
    return render(request, "accounts/webhook_delivery.html", told)


@page(Right.DEVELOPERS, section="webhooks", methods=("POST",))
def replay(request: PageRequest, *, endpoint: str, delivery: UUID) -> HttpResponse:
    """Send one again."""
    row = delivery_of(request, endpoint, delivery)
    try:
        if endpoints.replay(row, now=timezone.now()):
            messages.success(request, f"{row.event.public_id} is on its way again.")
        else:
            messages.error(request, f"{row.event.public_id} is under way in this moment.")
    except Refusal as refusal:
        messages.error(request, refusal.message)
    return redirect("delivery", venue=request.access.venue.public_id, endpoint=endpoint, delivery=row.pk)
