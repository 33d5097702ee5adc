"""The request log of the dashboard: the API requests of a venue, searchable and updated live."""

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.models import ApiCall, ApiKey, Venue
from accounts.tenancy.permissions import Right
from framework.api.urls import public_url
from framework.public_ids import decode

PAGE = 30
# Filters that no index supports scan at most so many requests per page.
MAX_SCANNED = 5_000
RANGES = {
    "": gettext_lazy("Last 30 days"),
    "1h": gettext_lazy("Last hour"),
    "24h": gettext_lazy("Last 24 hours"),
    "7d": gettext_lazy("Last 7 days"),
    "custom": gettext_lazy("From and to"),
}
LENGTHS = {"1h": timedelta(hours=1), "24h": timedelta(hours=24), "7d": timedelta(days=7)}
BODY_FILE = "body.json"
# Classes, and the statuses that are looked for most; a link can state any other.
STATUSES = {"2": "2xx", "4": "4xx", "5": "5xx"} | {code: code for code in ("401", "403", "404", "409", "422", "429")}
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
LOCAL = "%Y-%m-%dT%H:%M"
LocalTimeField = partial(
    forms.DateTimeField,
    required=False,
    input_formats=[LOCAL],
    widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=LOCAL),
)


class FilterForm(forms.Form):
    """Filters of the request log. Times are in the venue's time zone."""

    key = forms.CharField(label=gettext_lazy("Key"), required=False)
    method = forms.ChoiceField(
        label=gettext_lazy("Method"),
        choices=[("", pgettext_lazy("filter", "Any")), *((method, method) for method in METHODS)],
        required=False,
    )
    status = forms.RegexField(
        "^(?:[1-5]|[1-5][0-9][0-9])$",
        label=gettext_lazy("Status"),
        required=False,
        widget=forms.Select,
        error_messages={"invalid": gettext_lazy("Enter a status such as 404, or 4 for all 4xx.")},
    )
    path = forms.CharField(label=gettext_lazy("Path starts with"), max_length=200, required=False)
    range = forms.ChoiceField(label=gettext_lazy("Time"), choices=list(RANGES.items()), required=False)
    since = LocalTimeField(label=pgettext_lazy("period", "From"))
    until = LocalTimeField(label=pgettext_lazy("period", "To"))

    def __init__(self, *args: Any, keys: Sequence[ApiKey], **options: Any) -> None:
        super().__init__(*args, **{"label_suffix": ""} | options)
        choices = [(key.public_id, f"{key.name} {key.masked}") for key in keys]
        self.fields["key"] = forms.ChoiceField(
            label=gettext_lazy("Key"), choices=[("", pgettext_lazy("filter", "Any")), *choices], required=False
        )
        status = self.data.get("status", "")
        # Shown as chosen, whatever it is; the field validates it.
        others = {status: status} if status not in STATUSES and status else {}
        self.fields["status"].widget.choices = [("", pgettext_lazy("filter", "Any")), *(STATUSES | others).items()]
        self.order_fields(["range", "since", "until", "status", "method", "key", "path"])

    def clean(self) -> None:
        """Ignore the times of a custom range if another range is chosen: the page hides them then."""
        if self.cleaned_data.get("range") in LENGTHS:
            self.cleaned_data |= {"since": None, "until": None}

    def build_conditions(self, *, now: datetime) -> tuple[Q, Q]:
        """Return the conditions that indexes support (key, status class, time), and those that read each row."""
        values = self.cleaned_data
        indexed, scanned = Q(), Q()
        if values["key"]:
            indexed &= Q(key=decode("key", values["key"]))
        if values["status"]:
            lowest = int(values["status"].ljust(3, "0"))
            highest = lowest if len(values["status"]) == 3 else lowest + 99
            scanned &= Q(status__range=(lowest, highest))
            # The conditions of the partial indexes.
            indexed &= Q(status__gte=lowest // 100 * 100) if lowest >= 400 else Q()
        if values["range"] in LENGTHS:
            indexed &= Q(created_at__gte=now - LENGTHS[values["range"]])
        if values["since"]:
            indexed &= Q(created_at__gte=values["since"])
        if values["until"]:
            # Include the whole minute.
            indexed &= Q(created_at__lte=values["until"].replace(second=59, microsecond=999_999))
        if values["method"]:
            scanned &= Q(method=values["method"])
        if values["path"]:
            scanned &= Q(path__startswith=values["path"])
        return indexed, scanned


def read_page(venue: Venue, form: FilterForm, *, before: ApiCall | None, now: datetime) -> dict[str, Any]:
    """Return the next page, newest first, and whether older calls are left to be searched.

    `next_before` is the id to continue from, None on the last page. One query; two if rows have to be scanned.
    """
    indexed, scanned = form.build_conditions(now=now)
    calls = ApiCall.objects.filter(indexed, venue=venue, created_at__gt=now - ApiCall.RETENTION)
    calls = (calls.before(before) if before else calls).newest_first()
    last: ApiCall | None = None
    if scanned:
        last = next(iter(calls.only("id", "created_at")[MAX_SCANNED - 1 : MAX_SCANNED]), None)
        calls = calls.filter(scanned, created_at__gte=last.created_at) if last else calls.filter(scanned)
    rows = list(calls.defer("body", "answer", "user_agent")[: PAGE + 1])
    if len(rows) > PAGE:
        return {"calls": rows[:PAGE], "next_before": rows[PAGE - 1].public_id, "is_unfinished": False}
    return {"calls": rows, "next_before": last.public_id if last else None, "is_unfinished": last is not None}


def find_call(venue: Venue, text: str) -> ApiCall | None:
    """Return the venue's call with this public id, or None."""
    row = decode("req", text)
    return ApiCall.objects.filter(venue=venue, pk=row).first() if row else None


@page(Right.DEVELOPERS, section="requests")
def list_requests(request: PageRequest) -> HttpResponse:
    """List the filtered requests. At most four queries besides those of the layout.

    An htmx request gets the list only, or 204 if it has not changed.
    """
    venue, now = request.access.venue, timezone.now()
    if request_id := request.GET.get("id", "").strip():
        if call := find_call(venue, request_id):
            return redirect("request", venue=venue.public_id, call=call.public_id)
        return render(request, "accounts/request_not_found.html", {"request_id": request_id[:100]}, status=404)
    keys = list(ApiKey.objects.filter(venue=venue).order_by("-created_at", "-pk")[:200])
    query = request.GET.copy()
    if not query.get("range") and (query.get("since") or query.get("until")):
        query["range"] = "custom"
    form = FilterForm(query, keys=keys)
    if not form.is_valid():
        return render(request, "accounts/request_log.html", {"form": form, "rows": []}, status=400)
    cursor = request.GET.get("before", "")
    before = find_call(venue, cursor) if cursor else None
    found = read_page(venue, form, before=before, now=now)
    state = sha256(" ".join(call.public_id for call in found["calls"]).encode()).hexdigest()[:16]
    keys_by_pk = {key.pk: key for key in keys}
    filters = {name: value for name, value in request.GET.items() if name in form.fields and value}
    context = {
        "form": form,
        # A key may have been deleted.
        "rows": [(call, keys_by_pk.get(call.key_id)) for call in found["calls"]],
        "has_several_keys": len({call.key_id for call in found["calls"]}) > 1,
        "found": found,
        "filters": urlencode(filters),
        "is_filtered": bool(filters),
        "is_later_page": bool(cursor),
        "is_live": not cursor and not form.cleaned_data["until"],
        "state": state,
        "scanned": MAX_SCANNED,
        "address": public_url("/api/v1/orders"),
    }
    if not request.htmx or "seen" not in request.GET:  # type: ignore[attr-defined]
        return render(request, "accounts/request_log.html", context)
    if request.GET["seen"] == state:
        return HttpResponse(status=204)
    return render(request, "accounts/request_log_rows.html", context | {"is_update": True})


@page(Right.DEVELOPERS, section="requests")
def show_request(request: PageRequest, call: str) -> HttpResponse:
    """Show one request; of a failed one (4xx) also the bodies. Two queries."""
    venue = request.access.venue
    row = get_object_or_404(ApiCall, venue=venue, pk=decode("req", call))
    key = ApiKey.objects.filter(venue=venue, pk=row.key_id).first()
    context = {"call": row, "key": key, "curl": build_curl_command(row)}
    return render(request, "accounts/request_log_entry.html", context)


def build_curl_command(call: ApiCall) -> str:
    """Return the request as a curl command without its API key; JSON on one line.

    The bodies of successful requests are not stored: curl reads them from a file.
    """
    path = f"{call.path}?{call.query}" if call.query else call.path
    words = ["curl", "-X", call.method] if call.method not in ("GET", "HEAD") else ["curl"]
    line = shlex.join([*words, public_url(path)]) + ' \\\n  -H "Authorization: Bearer $API_KEY"'
    if body := call.body:
        with suppress(ValueError):
            body = json.dumps(json.loads(body), ensure_ascii=False)
        body = shlex.quote(body)
    elif call.has_unstored_body:
        body = f"@{BODY_FILE}"
    if body:
        line += f" \\\n  -H 'Content-Type: application/json' \\\n  -d {body}"
    return line
