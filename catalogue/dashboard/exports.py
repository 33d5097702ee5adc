"""Export pages of an account's wallets: list, progress, files, cancel and new export."""

from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from catalogue.exports.datasets import CORE, GROUPS
from catalogue.exports.downloads import signed_urls
from catalogue.exports.requests import commands, quote, representation, spec
from catalogue.exports.storage import manifest
from catalogue.models import Export, ExportPart, Market, Restaurant
from catalogue.models.exports import PREFIX, UNDER_WAY, UNFINISHED
from catalogue.tasks import enqueue_export_step
from framework.errors import ApiError
from framework.languages import format_number
from framework.public_ids import decode
from payments.interface import build_caller, list_addresses, list_wallets, to_checksum_address
from payments.models import Wallet, shorten_address

SECTION = "exports"
A_PAGE = 20
SHORT_DATETIME = "SHORT_DATETIME_FORMAT"
# htmx stops polling after this status.
DONE = 286
STATUS_LABELS = {
    Export.Status.AWAITING_PAYMENT: (gettext_lazy("Awaiting payment"), "warn"),
    Export.Status.QUEUED: (gettext_lazy("Queued"), "info"),
    Export.Status.RUNNING: (gettext_lazy("Running"), "info"),
    Export.Status.SUCCEEDED: (gettext_lazy("Done"), "good"),
    Export.Status.FAILED: (gettext_lazy("Failed"), "bad"),
    Export.Status.CANCELLED: (gettext_lazy("Cancelled"), "soft"),
    Export.Status.EXPIRED: (gettext_lazy("Files deleted"), "soft"),
}


class OrderForm(forms.Form):
    wallet = forms.ChoiceField(label=gettext_lazy("Wallet"))
    dataset = forms.ChoiceField(label=gettext_lazy("Dataset"), choices=Export.Dataset.choices)
    format = forms.ChoiceField(
        label=gettext_lazy("Format"),
        choices=Export.Format.choices,
        initial=Export.Format.JSONL_GZ,
        help_text=gettext_lazy("jsonl.gz contains complete API records; csv.gz and parquet are flat tables."),
    )
    market = forms.ModelChoiceField(
        Market.objects.order_by("name"),
        label=gettext_lazy("Market"),
        required=False,
        empty_label=gettext_lazy("All"),
    )
    status = forms.ChoiceField(
        required=False,
        choices=[("", pgettext_lazy("filter", "Any")), *Restaurant.Status.choices],
        label=gettext_lazy("Status of the restaurants"),
    )
    updated_since = forms.DateTimeField(
        label=gettext_lazy("Changed since"),
        help_text=gettext_lazy("A time of the restaurant's time zone."),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    groups = forms.MultipleChoiceField(
        label=gettext_lazy("Field groups in addition to the core fields (restaurants)"),
        choices=[(name, name) for name in GROUPS[Export.Dataset.RESTAURANTS] if name != CORE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    since_export = forms.ChoiceField(
        label=gettext_lazy("Only changes since"),
        required=False,
        help_text=gettext_lazy("An earlier export with the same filter and fields."),
    )

    def __init__(self, *args: Any, wallets: list[Wallet], **options: Any) -> None:
        super().__init__(*args, **options)
        self.wallets = {wallet.address: wallet for wallet in wallets}
        addresses = [(address, shorten_address(to_checksum_address(address))) for address in self.wallets]
        began = Export.objects.filter(
            wallet__in=self.wallets, changes_from__isnull=False, status__in=spec.STATUSES_WITH_FILES
        )
        earlier = [
            (each.public_id, f"{each.dataset}, {date_format(timezone.localtime(each.created_at), SHORT_DATETIME)}")
            for each in began.only("dataset", "created_at").order_by("-pk")[:50]
        ]
        cast("forms.ChoiceField", self.fields["wallet"]).choices = addresses
        cast("forms.ChoiceField", self.fields["since_export"]).choices = [("", gettext_lazy("Everything")), *earlier]

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the API request. Requires a valid form."""
        values = self.cleaned_data
        since: datetime | None = values["updated_since"]
        filters = {
            "market": values["market"] and values["market"].pk,
            "status": values["status"],
            "updated_since": since and since.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        }
        return {
            "dataset": values["dataset"],
            "format": values["format"],
            "filter": {name: value for name, value in filters.items() if value},
            "fields": values["groups"],
            "since_export": values["since_export"] or None,
        }

    def blame(self, refusal: ApiError) -> None:
        """Add the error to the field that it concerns."""
        name = (refusal.param or "").removeprefix("filter.")
        name = {"fields": "groups"}.get(name, name)
        self.add_error(name if name in self.fields else NON_FIELD_ERRORS, refusal.message)


@page(Right.DATA, section=SECTION)
def exports(request: PageRequest) -> HttpResponse:
    """List exports, newest first. Three queries besides those of the `page` decorator."""
    wallets = list_addresses(request.access.account)
    text = request.GET.get("before", "")
    before = decode(PREFIX, text) if text else None
    found = representation.list_newest(wallets, limit=A_PAGE + 1, before=before) if wallets else []
    now = timezone.now()
    context = {
        "wallets": wallets,
        "exports": [shown(export, list(export.parts.all()), now=now) for export in found[:A_PAGE]],
        "older": found[A_PAGE - 1].public_id if len(found) > A_PAGE else None,
        "is_later": before is not None,
        "is_invalid": bool(text) and before is None,
    }
    return render(request, "catalogue/dashboard/exports.html", context, status=400 if context["is_invalid"] else 200)


def shown(export: Export, parts: list[ExportPart], *, now: datetime) -> dict[str, Any]:
    """Return an export with its labels, and a digest `seen` that changes with the displayed state."""
    status = Export.Status(export.status)
    label, colour = STATUS_LABELS[status]
    if status == Export.Status.SUCCEEDED and not signed_urls.is_available(export, now=now):
        label, colour = STATUS_LABELS[Export.Status.EXPIRED]
    progress = representation.calculate_progress(export, parts)
    pace = representation.calculate_pace(export, parts, now=now)
    left_s = round(pace.remaining.total_seconds()) if pace else 0
    left = _("%(number)s min") % {"number": -(-left_s // 60)}
    if left_s < 120:
        left = _("%(number)s s") % {"number": max(left_s, 1)}
    return {
        "export": export,
        "title": f"{Export.Dataset(export.dataset).label}, {export.format}",
        "status_label": label,
        "colour": colour,
        "percent": int(progress * 100),
        "is_under_way": status in UNDER_WAY,
        "may_be_cancelled": status in (*UNFINISHED, Export.Status.SUCCEEDED),
        "pace": _("%(number)s rows a second, about %(time)s left")
        % {"number": format_number(round(pace.rows_per_second)), "time": left}
        if pace
        else "",
        "rows_so_far": sum(part.rows or 0 for part in parts if part.kind == ExportPart.Kind.ROWS),
        "seen": f"{status}-{int(progress * 1000)}-{representation.count_written(parts)}-{len(export.error)}",
    }


def found_one(request: PageRequest, public_id: str) -> Export:
    """Return an export of one of the account's wallets. Raises Http404."""
    try:
        return representation.find_export(list_addresses(request.access.account), public_id, with_parts=True)
    except ApiError as unknown:
        raise Http404 from unknown


@page(Right.DATA, section=SECTION)
def progress(request: PageRequest, export: str, part: str = "progress") -> HttpResponse:
    """Return the part of a page that shows the progress: 204 while unchanged; the final one ends the polling."""
    context = with_files(found_one(request, export), now=timezone.now())
    is_under_way = context["item"]["is_under_way"]
    if request.GET.get("seen") == context["item"]["seen"] and is_under_way:
        return HttpResponse(status=204)
    template = f"catalogue/dashboard/{part}.html"
    return render(request, template, context | {"is_partial": True}, status=200 if is_under_way else DONE)


def with_files(export: Export, *, now: datetime) -> dict[str, Any]:
    """Return the context of an export, with its files when it is done. No query if its parts are prefetched."""
    parts = list(export.parts.all())
    item = shown(export, parts, now=now)
    has_files = export.status == Export.Status.SUCCEEDED and signed_urls.is_available(export, now=now)
    files = [(manifest.file_name(export, part), part) for part in parts] if has_files else []
    return {
        "item": item,
        "files": files,
        "manifest": manifest.NAME if has_files else None,
        "bytes": sum(part.bytes or 0 for _, part in files),
    }


@page(Right.DATA, section=SECTION)
def export(request: PageRequest, export: str) -> HttpResponse:
    """Show one export: progress, files and price. Three queries besides those of the `page` decorator."""
    found, zone = found_one(request, export), ZoneInfo(request.access.venue.timezone)
    context = with_files(found, now=timezone.now())
    filters = [(name.replace("_", " "), str(value)) for name, value in found.filter.items()]
    context |= {"filters": filters, "reorder_query": reorder_query(found, zone)}
    return render(request, "catalogue/dashboard/export.html", context)


def reorder_query(export: Export, zone: ZoneInfo) -> str:
    """Return the query string that fills the form with the same order."""
    query: dict[str, Any] = {"dataset": export.dataset, "format": export.format, "wallet": export.wallet_id}
    query |= {name: export.filter[name] for name in ("market", "status") if export.filter.get(name)}
    if since := export.filter.get("updated_since"):
        query["updated_since"] = f"{datetime.fromisoformat(since).astimezone(zone):%Y-%m-%dT%H:%M}"
    return urlencode(query | {"groups": export.fields}, doseq=True)


@page(Right.DATA, section=SECTION)
def file(request: PageRequest, export: str, name: str) -> HttpResponse:
    """Redirect to a file with a new signed link, which works for an hour."""
    found, now = found_one(request, export), timezone.now()
    try:
        signed_urls.find_file(found, name, now=now)
    except ApiError as refusal:
        messages.error(request, refusal.message)
        return redirect("data-export", venue=request.access.venue.public_id, export=found.public_id)
    return redirect(signed_urls.sign_url(found, name, now=now))


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def cancel(request: PageRequest, export: str) -> HttpResponse:
    """Ask for confirmation, then cancel the export."""
    found, now = found_one(request, export), timezone.now()
    if request.method != "POST":
        return render(request, "catalogue/dashboard/cancel.html", {"item": with_files(found, now=now)["item"]})
    if commands.cancel_export(found, actor=request.access.actor, now=now):
        messages.success(request, _("The export was cancelled, and its files were deleted."))
    else:
        messages.info(request, _("The export had already finished."))
    return redirect("data-export", venue=request.access.venue.public_id, export=found.public_id)


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def new(request: PageRequest) -> HttpResponse:
    """Show the price of an export; a free one can be ordered here. Times are of the venue's time zone."""
    with timezone.override(request.access.venue.timezone):
        return order_or_quote(request)


def order_or_quote(request: PageRequest) -> HttpResponse:
    account, now = request.access.account, timezone.now()
    wallets = list_wallets(account, now=now)
    context: dict[str, Any] = {"wallets": wallets, "best": wallets[0] if wallets else None}
    if not wallets:
        return render(request, "catalogue/dashboard/new.html", context)
    query = (request.POST if request.method == "POST" else request.GET).copy()
    query.setdefault("wallet", wallets[0].address)
    query.setdefault("format", Export.Format.JSONL_GZ)
    form = OrderForm(query if "dataset" in query else None, wallets=wallets)
    context["form"] = form
    status = 200
    if form.is_bound:
        status = 400
        if form.is_valid():
            caller = build_caller(form.wallets[form.cleaned_data["wallet"]], account)
            try:
                if request.method == "POST":
                    ordered = quote.order_free_export(caller, form.arguments, now=now)
                    enqueue_export_step(ordered)
                    messages.success(request, _("The export was ordered. Its files appear here when they are ready."))
                    return redirect("data-export", venue=request.access.venue.public_id, export=ordered.public_id)
                context["offer"] = quote.quote_export(caller, form.arguments, now=now)
                status = 200
            except ApiError as refusal:
                form.blame(refusal)
    return render(request, "catalogue/dashboard/new.html", context, status=status)
