"""Bulk exports, for staff."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import NON_FIELD_ERRORS, PermissionDenied
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from accounts.api_keys.authentication import staff
from catalogue.exports.datasets import CORE, GROUPS
from catalogue.exports.requests import commands, representation
from catalogue.exports.storage import manifest
from catalogue.models import Export, ExportPart, Market, Restaurant
from catalogue.models.exports import PREFIX as ID
from catalogue.models.exports import UNDER_WAY, UNFINISHED
from catalogue.tasks import enqueue_export_step
from framework.admin.action_confirmation import ask
from framework.admin.pending_counts import PendingCount, count_bounded
from framework.admin.read_only import ReadOnlyAdmin, ReadOnlyInline
from framework.errors import Refusal
from framework.public_ids import decode
from payments.models import shortened
from payments.tiers.definitions import FREE

ANY = [("", "any")]
PREFIX = "filter."
# What failed longer ago nobody waits for any more.
FAILED_LATELY = timedelta(days=7)


class OrderForm(forms.Form):
    """What staff may order for themselves."""

    dataset = forms.ChoiceField(choices=Export.Dataset.choices)
    format = forms.ChoiceField(choices=Export.Format.choices, initial=Export.Format.PARQUET)
    market = forms.ModelChoiceField(Market.objects.order_by("name"), required=False, empty_label="all")
    status = forms.ChoiceField(
        choices=[*ANY, *Restaurant.Status.choices], required=False, help_text="Of the restaurants"
    )
    updated_since = forms.DateTimeField(
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text="Changed at this moment or later, UTC",
    )
    fields_ = forms.MultipleChoiceField(
        label="Fields",
        choices=[(name, name) for name in GROUPS[Export.Dataset.RESTAURANTS] if name != CORE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Of restaurants, beside core",
    )
    since_export = forms.CharField(
        required=False,
        max_length=29,
        help_text="ex_…: only what has changed since this export, which staff have ordered with the same filter",
    )

    @property
    def wishes(self) -> dict[str, Any]:
        """What it asks for, as the API is asked."""
        given = self.cleaned_data
        since = given["updated_since"]
        conditions = {
            "market": given["market"] and given["market"].pk,
            "status": given["status"],
            "updated_since": since and since.isoformat().replace("+00:00", "Z"),
        }
        return {
            "dataset": given["dataset"],
            "format": given["format"],
            "filter": {name: value for name, value in conditions.items() if value},
            "fields": given["fields_"],
            "since_export": given["since_export"] or None,
        }

    def blame(self, refusal: Refusal) -> None:
        """Say why it is refused, at the field that it is about."""
        name = {"fields": "fields_"}.get(refusal.param or "", (refusal.param or "").removeprefix(PREFIX))
        self.add_error(name if name in self.fields else NON_FIELD_ERRORS, refusal.message)


class OrderedBy(admin.SimpleListFilter):
    """Whose they are."""

    title = "who ordered it"
    parameter_name = "by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Staff, or wallets."""
        return [("staff", "Staff"), ("wallets", "Wallets")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Export]) -> QuerySet[Export]:
        """Theirs."""
        return queryset if self.value() is None else queryset.filter(wallet__isnull=self.value() == "staff")


class ExportPartInline(ReadOnlyInline):
    """The parts, in their order."""

    model = ExportPart
    fields = ["seq", "kind", "state", "tries", "lease_until", "rows", "bytes", "checksum", "sources"]
    readonly_fields = ["seq", "kind", "state", "tries", "lease_until", "rows", "bytes", "checksum", "sources"]
    ordering = ["seq"]

    @admin.display(description="SHA-256", empty_value="-")
    def checksum(self, part: ExportPart) -> SafeString | None:
        """The beginning, with the whole of it to be pointed at."""
        return format_html('<span title="{}">{}…</span>', part.sha256, part.sha256[:12]) if part.sha256 else None


@admin.register(Export)
class ExportAdmin(ReadOnlyAdmin):
    """Exports. They are begun anew and cancelled by the actions of the list, and ordered by a form."""

    change_list_template = "catalogue/exports.html"
    change_form_template = "catalogue/export.html"
    list_display = ["public_id", "status", "what", "bar", "failure", "owner", "paid", "rows", "created_at"]
    list_filter = ["status", "dataset", "format", OrderedBy]
    list_select_related = ["payment"]
    search_fields = ["wallet__address__exact"]
    search_help_text = "The id (ex_…), or the address of the wallet, whole and in small letters"
    nothing_yet = "Wallets order exports with POST /v1/exports; staff by the button above, or “manage.py export”."
    inlines = [ExportPartInline]
    actions = ["restart", "cancel"]
    fields = [
        ("public_id", "status", "bar"),
        "error",
        "downloads",
        ("wallet", "paid", "queue"),
        ("dataset", "format", "filter"),
        ("fields", "since_export"),
        ("rows_total", "rows", "manifest_sha256"),
        ("created_at", "snapshot_at", "changes_from", "finished_at", "expires_at"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Export]:
        """With what of the parts the progress is told by."""
        told = ExportPart.objects.only("export", "kind", "state", "rows")
        return super().get_queryset(request).prefetch_related(Prefetch("parts", told))

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Exports that failed in the last days and were not begun anew."""
        since = (timezone.now() - FAILED_LATELY).replace(hour=0, minute=0, second=0, microsecond=0)
        wanted = {"status__exact": Export.Status.FAILED.value, "created_at__gte": since.isoformat()}
        address = f"{reverse('admin:catalogue_export_changelist')}?{urlencode(wanted)}"
        number = count_bounded(Export.objects.filter(status=Export.Status.FAILED, created_at__gte=since))
        return [PendingCount("exports failed in 7 days", number, address, is_bad=True)]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Export], search_term: str
    ) -> tuple[QuerySet[Export], bool]:
        """By id at once."""
        if key := decode(ID, search_term.strip()):
            return queryset.filter(pk=key), False
        return super().get_search_results(request, queryset, search_term)

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Order an export of staff's own, and show it."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = OrderForm(request.POST or None)
        if form.is_valid():
            try:
                export = commands.start(None, tier=FREE, now=timezone.now(), **form.wishes)
            except Refusal as refusal:
                form.blame(refusal)
            else:
                enqueue_export_step(export)
                self.message_user(request, f"Export {export.public_id} is {export.status}.", messages.SUCCESS)
                return HttpResponseRedirect(reverse("admin:catalogue_export_change", args=[export.pk]))
        context = {
            **self.admin_site.each_context(request),
            "title": "Order an export",
            "opts": self.opts,
            "form": form,
        }
        return TemplateResponse(request, "catalogue/order_export.html", context)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """For staff, by the form of `add_view`."""
        return super(ReadOnlyAdmin, self).has_add_permission(request)

    @admin.display(description="Error")
    def failure(self, export: Export) -> str:
        """The beginning of what went wrong."""
        return Truncator(export.error).chars(60)

    @admin.display(description="Wallet", ordering="wallet")
    def owner(self, export: Export) -> str:
        """As people tell addresses apart."""
        return shortened(export.wallet_id) if export.wallet_id else "staff"

    @admin.display(description="What")
    def what(self, export: Export) -> str:
        """The dataset and its format, and whether it is a delta."""
        return f"{export.dataset}, {export.format}{', delta' if export.since_export_id else ''}"

    @admin.display(description="Paid")
    def paid(self, export: Export) -> SafeString | str:
        """How much, and what became of it, with a way to the payment."""
        if export.payment is None:
            return "nothing"
        address = reverse("admin:payments_payment_change", args=[export.payment.pk])
        state = export.payment.get_state_display().partition(":")[0].lower()
        amount = f"{export.payment.amount_usdc.normalize():f}"
        return format_html('<a href="{}">{} USDC, {}</a>', address, amount, state)

    @admin.display(description="Progress")
    def bar(self, export: Export) -> SafeString:
        """A bar with its number, which is also what is read out; while it runs, how fast and how long yet."""
        parts = list(export.parts.all())
        shown = format_html(
            '<progress max="100" value="{0}" aria-label="Progress of {1}"{2}>{0} %</progress> {0} %',
            int(representation.progress(export, parts) * 100),
            export.public_id,
            mark_safe(" data-runs") if export.status in UNDER_WAY else "",
        )
        pace = representation.pace(export, parts, now=timezone.now())
        if pace is None:
            return shown
        seconds = round(pace.left.total_seconds())
        return format_html(
            '{}<div class="quiet">{} rows/s, {} left</div>',
            shown,
            f"{pace.rows_a_second:,.0f}",
            f"{seconds // 60} min" if seconds >= 120 else f"{seconds} s",
        )

    @admin.display(description="Files", empty_value="none")
    def downloads(self, export: Export) -> SafeString | None:
        """The files by signed links, which are good for an hour."""
        shown = representation.show(export, now=timezone.now())
        if shown.manifest_url is None:
            return None
        files = ((file.url, file.name, f"{file.rows:,} rows, {file.bytes / 1e6:.1f} MB") for file in shown.files)
        return format_html(
            '<ul class="files"><li><a href="{}">{}</a></li>{}</ul>',
            shown.manifest_url,
            manifest.NAME,
            format_html_join("", '<li><a href="{}">{}</a> {}</li>', files),
        )

    @admin.action(description="Begin the selected exports anew (failed ones)", permissions=["change"])
    def restart(self, request: HttpRequest, queryset: QuerySet[Export]) -> None:
        """Queue those that have failed, and say which have not."""
        for export in queryset:
            try:
                begun = commands.restart(export, actor=staff(request), now=timezone.now())
            except Refusal as refusal:
                self.message_user(request, f"Export {export.public_id}: {refusal.message}", messages.ERROR)
                continue
            if begun:
                enqueue_export_step(export)
                self.message_user(request, f"Export {export.public_id} is queued.", messages.SUCCESS)
            else:
                self.message_user(request, f"Export {export.public_id} has not failed.", messages.ERROR)

    @admin.action(description="Cancel the selected exports, and remove their files", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Export]) -> HttpResponse | None:
        """Ask; then give up those under way, expire those that are done, and say which were neither."""
        if "confirmed" not in request.POST:
            return self.ask(request, queryset.filter(status__in=[*UNFINISHED, Export.Status.SUCCEEDED]))
        for export in queryset:
            if commands.cancel(export, actor=staff(request), now=timezone.now()):
                self.message_user(request, f"Export {export.public_id} has no files any more.", messages.SUCCESS)
            else:
                self.message_user(request, f"Export {export.public_id} had none already.", messages.ERROR)
        return None

    def ask(self, request: HttpRequest, queryset: QuerySet[Export]) -> HttpResponse:
        """The page that shows which exports would be cancelled."""
        told = {"count": queryset.count(), "examples": queryset[:20]}
        return ask(self, request, "catalogue/confirm_cancel.html", title="Cancel exports?", action="cancel", **told)


@admin.register(ExportPart)
class ExportPartAdmin(ReadOnlyAdmin):
    """Parts of all exports, for finding those that are tried again and again."""

    list_display = ["id", "export", "seq", "state", "tries", "lease_until", "rows", "bytes"]
    list_select_related = ["export"]
    list_filter = ["state"]
    search_fields = ["sha256__exact"]
    search_help_text = "The SHA-256 of the file, whole"
    nothing_yet = "An export is split into parts when a worker begins it."
