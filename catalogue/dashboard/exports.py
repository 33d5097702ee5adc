"""Export pages of an account's wallets: list, new export, payment, progress, files, and cancel."""

from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, cast
from urllib.parse import urlencode

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
from accounts.models import Account
from accounts.tenancy.permissions import Right
from catalogue.exports.datasets import CONTEXT, CORE, GROUPS, INSIGHT, REVIEWS
from catalogue.exports.downloads import signed_urls
from catalogue.exports.requests import commands, page_orders, payment_state, quote, representation, spec
from catalogue.exports.storage import manifest
from catalogue.models import Export, ExportPart, Market, Restaurant
from catalogue.models.exports import PREFIX, UNDER_WAY, UNFINISHED
from catalogue.tasks import enqueue_export_step
from framework.cache import CachedValue
from framework.errors import ApiError
from framework.languages import format_number
from framework.public_ids import decode
from payments.interface import (
    STANDARD,
    TIERS,
    Caller,
    NotSold,
    build_caller,
    current_prices,
    find_demo_wallet,
    list_addresses,
    list_wallets,
    load_price_list,
    to_checksum_address,
)
from payments.models import Product, Wallet, shorten_address

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


DESCRIPTIONS = {
    Export.Dataset.RESTAURANTS: gettext_lazy("All records, with the field groups that you choose"),
    Export.Dataset.REVIEWS: gettext_lazy("Ratings, texts and the owners' replies"),
    Export.Dataset.PHOTOS: gettext_lazy("Links with authors and licences"),
    Export.Dataset.LANDMARKS: gettext_lazy("Museums, parks and other places"),
    Export.Dataset.HISTORY: gettext_lazy("Earlier versions of the records"),
    Export.Dataset.MENUS: gettext_lazy("Dishes with their prices"),
}
GROUP_LABELS = {
    REVIEWS: gettext_lazy("Reviews"),
    CONTEXT: gettext_lazy("Neighborhood context"),
    INSIGHT: gettext_lazy("AI insight"),
}


def _load_sizes() -> dict[str, int]:
    """Return the planner's row estimate of each dataset, the whole of it."""
    kinds = {dataset: spec.ExportSpec(dataset, Export.Format.JSONL_GZ, {}, (), None) for dataset in Export.Dataset}
    return {dataset: quote.estimate_rows(kind) for dataset, kind in kinds.items()}


cached_sizes = CachedValue(_load_sizes)


class OrderForm(forms.Form):
    wallet = forms.ChoiceField(label=gettext_lazy("Wallet"))
    dataset = forms.ChoiceField(
        label=gettext_lazy("Dataset"),
        choices=Export.Dataset.choices,
        widget=forms.RadioSelect,
    )
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
        label=gettext_lazy("Status"),
    )
    updated_since = forms.DateTimeField(
        label=gettext_lazy("Changed since"),
        help_text=gettext_lazy("A time of the restaurant's time zone."),
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"),
    )
    groups = forms.MultipleChoiceField(
        label=gettext_lazy("Extra fields of restaurants"),
        choices=[(name, GROUP_LABELS[name]) for name in GROUPS[Export.Dataset.RESTAURANTS] if name != CORE],
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
            (each.public_id, f"{each.dataset}, {format_moment(each.created_at)}")
            for each in began.only("dataset", "created_at").order_by("-pk")[:50]
        ]
        if not wallets:
            # Only a wallet orders, and has earlier exports.
            del self.fields["wallet"], self.fields["since_export"]
            return
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
            "since_export": values.get("since_export") or None,
        }

    def blame(self, refusal: ApiError) -> None:
        """Add the error to the field that it concerns."""
        name = (refusal.param or "").removeprefix("filter.")
        name = {"fields": "groups"}.get(name, name)
        self.add_error(name if name in self.fields else NON_FIELD_ERRORS, refusal.message)


def list_datasets(account: Account, wallets: list[Wallet], *, now: datetime) -> list[dict[str, Any]]:
    """Return the datasets with their size, and the price for the best wallet, or at the tier that they are sold to.

    First those that the account can order. `opens_group` marks the first one of a higher tier.

    Three queries, and six for the sizes once a minute.
    """
    our_terms = build_caller(wallets[0], account).terms if wallets else STANDARD
    tiers = dict(Product.objects.filter(slug__in=payment_state.PRODUCTS.values()).values_list("slug", "from_tier"))
    prices, sizes = current_prices(now=now), cached_sizes.get(max_age_s=60)
    found: list[dict[str, Any]] = []
    for dataset in Export.Dataset:
        product = payment_state.PRODUCTS.get(dataset)
        from_tier = TIERS[tiers[product]] if product in tiers else None
        price = None
        if product and from_tier and our_terms.tier >= from_tier:
            with suppress(NotSold):
                price = load_price_list([product], now=now).quote(our_terms).amount
            from_tier = None
        elif product and from_tier:
            price = prices.get(product, {}).get(from_tier.rate)
        found.append(
            {
                "value": dataset.value,
                "label": dataset.label,
                "description": DESCRIPTIONS[dataset],
                "rows": sizes[dataset],
                "price": price,
                "is_free": product is None,
                "from_tier": from_tier,
                "is_highest_tier": from_tier is not None and from_tier == max(TIERS.values()),
            }
        )
    found.sort(key=lambda each: each["from_tier"].rank if each["from_tier"] else -1)
    for before, each in pairwise(found):
        each["opens_group"] = each["from_tier"] != before["from_tier"]
    if found[0]["from_tier"]:
        found[0]["opens_group"] = True
    return found


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
    if not found:
        linked = list_wallets(request.access.account, now=now) if wallets else []
        context["datasets"] = list_datasets(request.access.account, linked, now=now)
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
        "is_unfinished": status in UNFINISHED,
        "is_unpaid": status == Export.Status.AWAITING_PAYMENT,
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
    is_unfinished = context["item"]["is_unfinished"]
    if request.GET.get("seen") == context["item"]["seen"] and is_unfinished:
        return HttpResponse(status=204)
    template = f"catalogue/dashboard/{part}.html"
    return render(request, template, context | {"is_partial": True}, status=200 if is_unfinished else DONE)


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
    """Show one export: progress, files and price. Three queries besides those of the `page` decorator.

    One that awaits its payment takes up to nine more.
    """
    found = found_one(request, export)
    context = with_files(found, now=timezone.now())
    if context["item"]["is_unpaid"]:
        context |= payment_context(request, found)
    since = found.filter.get("updated_since")
    values = found.filter | ({"updated_since": format_moment(datetime.fromisoformat(since))} if since else {})
    filters = [(name.replace("_", " "), str(value)) for name, value in values.items()]
    context |= {"filters": filters, "reorder_query": reorder_query(found)}
    return render(request, "catalogue/dashboard/export.html", context)


def format_moment(moment: datetime) -> str:
    """Format a moment in the current time zone, the venue's."""
    return date_format(timezone.localtime(moment), SHORT_DATETIME)


def payment_context(request: PageRequest, export: Export) -> dict[str, Any]:
    """Return what the page of an unpaid export needs to have it paid: its price, or that it is being paid already."""
    if payment_state.list_pending(export).exists():
        return {"is_being_paid": True}
    wishes = page_orders.get_wishes(export)
    try:
        offer = quote.quote_export(caller_for(request, export), wishes, now=timezone.now())
    except ApiError as refusal:
        return {"not_payable": refusal.message}
    return {
        "offer": offer,
        "not_payable": offer.refused,
        "payer": export.wallet_id,
        "demo_wallet": find_demo_wallet({str(export.wallet_id)}),
        "pay_url": request.path.rstrip("/") + "/pay",
    }


def caller_for(request: PageRequest, export: Export) -> Caller:
    """Return the caller for requests with the wallet of an export. One query. Raises Http404 if it was unlinked."""
    account = request.access.account
    for wallet in list_wallets(account, now=timezone.now()):
        if wallet.address == export.wallet_id:
            return build_caller(wallet, account)
    raise Http404


@page(Right.DATA, section=SECTION, methods=("POST",))
def pay(request: PageRequest, export: str) -> HttpResponse:
    """Pay an export that awaits its payment with its wallet, if that is a demo wallet of the embedded chain."""
    return pay_with_demo_wallet(request, found_one(request, export))


def pay_with_demo_wallet(request: PageRequest, export: Export) -> HttpResponse:
    wallet = find_demo_wallet({str(export.wallet_id)})
    if wallet is None:
        raise Http404
    try:
        paid = page_orders.pay_with_demo_wallet(caller_for(request, export), export, wallet=wallet, now=timezone.now())
    except ApiError as refusal:
        messages.error(request, refusal.message)
    else:
        enqueue_export_step(paid)
        messages.success(request, _("The export was paid. Its files appear here when they are ready."))
    return redirect("data-export", venue=request.access.venue.public_id, export=export.public_id)


def reorder_query(export: Export) -> str:
    """Return the query string that fills the form with the same order."""
    query: dict[str, Any] = {"dataset": export.dataset, "format": export.format, "wallet": export.wallet_id}
    query |= {name: export.filter[name] for name in ("market", "status") if export.filter.get(name)}
    if since := export.filter.get("updated_since"):
        query["updated_since"] = f"{timezone.localtime(datetime.fromisoformat(since)):%Y-%m-%dT%H:%M}"
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
    """Show the price of an export; a free one can be ordered here. Without a wallet it only shows prices."""
    account, now = request.access.account, timezone.now()
    wallets = list_wallets(account, now=now)
    if request.method == "POST" and not wallets:
        return redirect("wallet-new", venue=request.access.venue.public_id)
    context: dict[str, Any] = {"wallets": wallets, "best": wallets[0] if wallets else None}
    query = (request.POST if request.method == "POST" else request.GET).copy()
    if wallets:
        query.setdefault("wallet", wallets[0].address)
    query.setdefault("format", Export.Format.JSONL_GZ)
    form = OrderForm(query if "dataset" in query else None, wallets=wallets)
    datasets = list_datasets(account, wallets, now=now)
    chosen = form["dataset"].value() if form.is_bound else datasets[0]["value"]
    context |= {"form": form, "datasets": datasets, "chosen": chosen}
    status = 200
    if form.is_bound:
        status = 400
        if form.is_valid():
            caller = Caller(bucket="", terms=STANDARD)
            if wallets:
                caller = build_caller(form.wallets[form.cleaned_data["wallet"]], account)
            try:
                if request.method == "POST":
                    return order(request, page_orders.order_export(caller, form.arguments, now=now))
                offer = quote.quote_export(caller, form.arguments, now=now)
                context |= {"offer": offer, "payer": caller.wallet, "demo_wallet": find_demo_wallet(caller.wallets)}
                if not wallets:
                    chosen = form.cleaned_data["dataset"]
                    context["sold"] = next(each for each in context["datasets"] if each["value"] == chosen)
                status = 200
            except ApiError as refusal:
                form.blame(refusal)
    return render(request, "catalogue/dashboard/new.html", context, status=status)


def order(request: PageRequest, ordered: Export) -> HttpResponse:
    """Answer an order: a free export is queued, and one with a price is paid at once if the form says so, or later."""
    if ordered.status == Export.Status.AWAITING_PAYMENT:
        if "demo" in request.POST:
            return pay_with_demo_wallet(request, ordered)
        messages.success(request, _("The export was ordered. Pay it within an hour."))
    else:
        enqueue_export_step(ordered)
        messages.success(request, _("The export was ordered. Its files appear here when they are ready."))
    return redirect("data-export", venue=request.access.venue.public_id, export=ordered.public_id)
