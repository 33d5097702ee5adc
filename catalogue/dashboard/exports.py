"""The exports of an account's wallets: the list, one export as it is written, its files, an order for another."""

from datetime import UTC, datetime
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import messages
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone

from accounts.dashboard.decorators import PageRequest, page
from accounts.tenancy.permissions import Right
from catalogue.exports.datasets import CORE, GROUPS
from catalogue.exports.downloads import signed_urls
from catalogue.exports.requests import commands, quote, representation
from catalogue.exports.storage import manifest
from catalogue.models import Export, ExportPart, Market, Restaurant
from catalogue.models.exports import PREFIX, UNDER_WAY, UNFINISHED
from catalogue.tasks import ring_for_export
from framework.errors import Refusal
from framework.public_ids import decode
from payments.chain import evm
from payments.dashboard import account_summary
from payments.models import Wallet, shortened

SECTION = "exports"
A_PAGE = 20
# htmx asks no more after this.
DONE = 286
WORDS = {
    Export.Status.AWAITING_PAYMENT: ("Waits for its payment", "warn"),
    Export.Status.QUEUED: ("Waits for a worker", "info"),
    Export.Status.RUNNING: ("Is being written", "info"),
    Export.Status.SUCCEEDED: ("Done", "good"),
    Export.Status.FAILED: ("Failed", "bad"),
    Export.Status.CANCELLED: ("Cancelled", "soft"),
    Export.Status.EXPIRED: ("Files removed", "soft"),
}


class OrderForm(forms.Form):
    """What is to be exported, and for which wallet."""

    wallet = forms.ChoiceField(label="Wallet that orders")
    dataset = forms.ChoiceField(choices=Export.Dataset.choices)
    format = forms.ChoiceField(
        choices=Export.Format.choices,
        help_text="jsonl.gz has all that the API says; csv.gz and parquet are flat tables.",
    )
    market = forms.ChoiceField(required=False)
    status = forms.ChoiceField(
        required=False, choices=[("", "Any"), *Restaurant.Status.choices], label="Status of the restaurants"
    )
    updated_since = forms.DateTimeField(
        label="Changed since (UTC)",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    groups = forms.MultipleChoiceField(
        label="Field groups of restaurants, beside the core fields",
        choices=[(name, name) for name in GROUPS[Export.Dataset.RESTAURANTS] if name != CORE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )
    since_export = forms.ChoiceField(
        label="Only what has changed since",
        required=False,
        help_text="An earlier export with the same filter and fields.",
    )

    def __init__(self, *args: Any, wallets: list[Wallet], **options: Any) -> None:
        super().__init__(*args, **options)
        self.wallets = {wallet.address: wallet for wallet in wallets}
        addresses = [(address, shortened(evm.checksummed(address))) for address in self.wallets]
        markets = Market.objects.order_by("name").values_list("slug", "name")
        began = Export.objects.filter(wallet__in=self.wallets, changes_from__isnull=False, status__in=WITH_FILES)
        earlier = [
            (each.public_id, f"{each.dataset}, {each.created_at:%Y-%m-%d %H:%M} UTC")
            for each in began.only("dataset", "created_at").order_by("-pk")[:50]
        ]
        for name, choices in (
            ("wallet", addresses),
            ("market", [("", "All"), *markets]),
            ("since_export", [("", "Everything"), *earlier]),
        ):
            cast("forms.ChoiceField", self.fields[name]).choices = choices

    @property
    def wishes(self) -> dict[str, Any]:
        """What it asks for, as the API is asked. Call it on a valid form."""
        given = self.cleaned_data
        since: datetime | None = given["updated_since"]
        conditions = {
            "market": given["market"],
            "status": given["status"],
            "updated_since": since and since.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        }
        return {
            "dataset": given["dataset"],
            "format": given["format"],
            "filter": {name: value for name, value in conditions.items() if value},
            "fields": given["groups"],
            "since_export": given["since_export"] or None,
        }

    def blame(self, refusal: Refusal) -> None:
        """Say why it is refused, at the field that it is about."""
        name = (refusal.param or "").removeprefix("filter.")
        name = {"fields": "groups"}.get(name, name)
        self.add_error(name if name in self.fields else NON_FIELD_ERRORS, refusal.message)


WITH_FILES = (Export.Status.SUCCEEDED, Export.Status.EXPIRED)


@page(Right.DATA, section=SECTION)
def exports(request: PageRequest) -> HttpResponse:
    """The list, newest first. Three queries beside those of the doorway."""
    wallets = account_summary.addresses_of(request.access.account)
    text = request.GET.get("before", "")
    before = decode(PREFIX, text) if text else None
    found = representation.newest(wallets, limit=A_PAGE + 1, before=before) if wallets else []
    now = timezone.now()
    told = {
        "wallets": wallets,
        "exports": [shown(export, list(export.parts.all()), now=now) for export in found[:A_PAGE]],
        "older": found[A_PAGE - 1].public_id if len(found) > A_PAGE else None,
        "is_later": before is not None,
        "is_wrong": bool(text) and before is None,
    }
    return render(request, "catalogue/dashboard/exports.html", told, status=400 if told["is_wrong"] else 200)


def shown(export: Export, parts: list[ExportPart], *, now: datetime) -> dict[str, Any]:
    """An export in the words of the page, with a mark that changes with what is seen of it."""
    status = Export.Status(export.status)
    words, colour = WORDS[status]
    if status == Export.Status.SUCCEEDED and not signed_urls.is_kept(export, now=now):
        words, colour = WORDS[Export.Status.EXPIRED]
    progress, pace = representation.progress(export, parts), representation.pace(export, parts, now=now)
    left_s = round(pace.left.total_seconds()) if pace else 0
    left = f"{-(-left_s // 60)} min" if left_s >= 120 else f"{max(left_s, 1)} s"
    return {
        "export": export,
        "words": words,
        "colour": colour,
        "percent": int(progress * 100),
        "is_under_way": status in UNDER_WAY,
        "may_be_cancelled": status in (*UNFINISHED, Export.Status.SUCCEEDED),
        "pace": f"{pace.rows_a_second:,.0f} rows a second, about {left} left" if pace else "",
        "rows_so_far": sum(part.rows or 0 for part in parts if part.kind == ExportPart.Kind.ROWS),
        "seen": f"{status}-{int(progress * 1000)}-{representation.written(parts)}-{len(export.error)}",
    }


def found_one(request: PageRequest, public_id: str) -> Export:
    """The export of one of the account's wallets, or 404."""
    try:
        return representation.find_among(account_summary.addresses_of(request.access.account), public_id)
    except Refusal as unknown:
        raise Http404 from unknown


@page(Right.DATA, section=SECTION)
def progress(request: PageRequest, export: str) -> HttpResponse:
    """How far it is, in the row of the list; 204 while nothing has changed, and then no more questions."""
    return changed(request, found_one(request, export), "catalogue/dashboard/progress.html")


@page(Right.DATA, section=SECTION)
def state(request: PageRequest, export: str) -> HttpResponse:
    """The same with files, on the page of the export."""
    return changed(request, found_one(request, export), "catalogue/dashboard/state.html")


def changed(request: PageRequest, export: Export, template: str) -> HttpResponse:
    """The part of the page, unless it looks as it did."""
    told = with_files(export, now=timezone.now())
    if request.GET.get("seen") == told["each"]["seen"] and told["each"]["is_under_way"]:
        return HttpResponse(status=204)
    return render(request, template, told | {"is_part": True}, status=200 if told["each"]["is_under_way"] else DONE)


def with_files(export: Export, *, now: datetime) -> dict[str, Any]:
    """An export, and once it is done its files by name. No query more than `find_among` has made."""
    parts = list(export.parts.all())
    each = shown(export, parts, now=now)
    is_here = export.status == Export.Status.SUCCEEDED and signed_urls.is_kept(export, now=now)
    files = [(manifest.file_name(export, part), part) for part in parts] if is_here else []
    return {
        "each": each,
        "files": files,
        "manifest": manifest.NAME if is_here else None,
        "bytes": sum(part.bytes or 0 for _, part in files),
    }


@page(Right.DATA, section=SECTION)
def export(request: PageRequest, export: str) -> HttpResponse:
    """One export: how far it is, its files, what it cost. Three queries beside those of the doorway."""
    found = found_one(request, export)
    told = with_files(found, now=timezone.now())
    conditions = [(name.replace("_", " "), str(value)) for name, value in found.filter.items()]
    return render(request, "catalogue/dashboard/export.html", told | {"conditions": conditions, "again": again(found)})


def again(export: Export) -> str:
    """The query by which the form orders the same."""
    asked: dict[str, Any] = {"dataset": export.dataset, "format": export.format, "wallet": export.wallet_id}
    asked |= {name: export.filter[name] for name in ("market", "status") if export.filter.get(name)}
    if since := export.filter.get("updated_since"):
        asked["updated_since"] = str(since)[:16]
    return urlencode(asked | {"groups": export.fields}, doseq=True)


@page(Right.DATA, section=SECTION)
def file(request: PageRequest, export: str, name: str) -> HttpResponse:
    """Go to a file by a fresh link, which is made now and good for an hour."""
    found, now = found_one(request, export), timezone.now()
    try:
        signed_urls.kept(found, name, now=now)
    except Refusal as refusal:
        messages.error(request, refusal.message)
        return redirect("data-export", venue=request.access.venue.public_id, export=found.public_id)
    return redirect(signed_urls.link(found, name, now=now))


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def cancel(request: PageRequest, export: str) -> HttpResponse:
    """Ask, then give it up."""
    found, now = found_one(request, export), timezone.now()
    if request.method != "POST":
        return render(request, "catalogue/dashboard/cancel.html", {"each": with_files(found, now=now)["each"]})
    if commands.cancel(found, actor=request.access.actor, now=now):
        messages.success(request, "The export is cancelled, and its files are removed.")
    else:
        messages.info(request, "The export had ended already.")
    return redirect("data-export", venue=request.access.venue.public_id, export=found.public_id)


@page(Right.DATA, section=SECTION, methods=("GET", "HEAD", "POST"))
def new(request: PageRequest) -> HttpResponse:
    """A form that shows what an export would cost; one that costs nothing is ordered here."""
    account, now = request.access.account, timezone.now()
    wallets = account_summary.wallets_of(account, now=now)
    told: dict[str, Any] = {"wallets": wallets, "best": wallets[0] if wallets else None}
    if not wallets:
        return render(request, "catalogue/dashboard/new.html", told)
    given = request.POST if request.method == "POST" else request.GET
    form = OrderForm(completed(given, wallets[0]) if "dataset" in given else None, wallets=wallets)
    told["form"] = form
    status = 200
    if form.is_bound:
        status = 400
        if form.is_valid():
            caller = account_summary.caller_of(form.wallets[form.cleaned_data["wallet"]], account)
            try:
                if request.method == "POST":
                    ordered = quote.order(caller, form.wishes, now=now)
                    ring_for_export(ordered)
                    messages.success(
                        request, "The export is ordered. Its files appear here as soon as they are written."
                    )
                    return redirect("data-export", venue=request.access.venue.public_id, export=ordered.public_id)
                told["offer"] = quote.offer(caller, form.wishes, now=now)
                status = 200
            except Refusal as refusal:
                form.blame(refusal)
    return render(request, "catalogue/dashboard/new.html", told, status=status)


def completed(given: QueryDict, wallet: Wallet) -> QueryDict:
    """What was asked for, with the best wallet where none is named."""
    asked = given.copy()
    asked.setdefault("wallet", wallet.address)
    asked.setdefault("format", Export.Format.JSONL_GZ)
    return asked
