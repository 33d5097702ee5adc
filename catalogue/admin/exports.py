"""Bulk exports in the back office."""

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

from accounts.admin.assignments import ASSIGNMENT_ACTIONS, AssignableAdmin, AssigneeFilter
from accounts.api_keys.authentication import get_staff_actor
from catalogue.exports.datasets import CORE, GROUPS
from catalogue.exports.requests import commands, representation
from catalogue.exports.storage import manifest
from catalogue.models import Export, ExportPart, Market, Restaurant
from catalogue.models.exports import UNDER_WAY, UNFINISHED
from catalogue.tasks import enqueue_export_step
from framework.admin.action_confirmation import confirmed_action, render_confirmation
from framework.admin.badges import badge_column, short_id
from framework.admin.pending_counts import PendingCount
from framework.admin.read_only import ReadOnlyAdmin, ReadOnlyInline
from framework.errors import ApiError
from framework.forms.domain_errors import errors_as_messages
from payments.interface import FREE
from payments.models import shorten_address

ANY = [("", "any")]
PREFIX = "filter."
# The front page counts exports that failed within this time.
RECENT_FAILURES = timedelta(days=7)


class OrderForm(forms.Form):
    dataset = forms.ChoiceField(choices=Export.Dataset.choices)
    format = forms.ChoiceField(choices=Export.Format.choices, initial=Export.Format.PARQUET)
    market = forms.ModelChoiceField(Market.objects.order_by("name"), required=False, empty_label="all")
    status = forms.ChoiceField(
        choices=[*ANY, *Restaurant.Status.choices], required=False, help_text="Status of the restaurants"
    )
    updated_since = forms.DateTimeField(
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text="Changed at this time or later (UTC)",
    )
    fields_ = forms.MultipleChoiceField(
        label="Fields",
        choices=[(name, name) for name in GROUPS[Export.Dataset.RESTAURANTS] if name != CORE],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="For restaurants, in addition to the core fields",
    )
    since_export = forms.CharField(
        required=False,
        max_length=29,
        help_text="ex_…: only changes since this staff export, which must have the same filter",
    )

    @property
    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the API request."""
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

    def blame(self, refusal: ApiError) -> None:
        """Add the error to the field that it concerns."""
        name = {"fields": "fields_"}.get(refusal.param or "", (refusal.param or "").removeprefix(PREFIX))
        self.add_error(name if name in self.fields else NON_FIELD_ERRORS, refusal.message)


class OrderedBy(admin.SimpleListFilter):
    title = "ordered by"
    parameter_name = "by"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("staff", "Staff"), ("wallets", "Wallets")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Export]) -> QuerySet[Export]:
        return queryset if self.value() is None else queryset.filter(wallet__isnull=self.value() == "staff")


class ExportPartInline(ReadOnlyInline):
    model = ExportPart
    fields = ["seq", "kind", "state", "attempts", "lease_until", "rows", "bytes", "checksum", "sources"]
    readonly_fields = ["checksum"]
    ordering = ["seq"]

    @admin.display(description="SHA-256", empty_value="-")
    def checksum(self, part: ExportPart) -> SafeString | None:
        return format_html('<span title="{}">{}…</span>', part.sha256, part.sha256[:12]) if part.sha256 else None


@admin.register(Export)
class ExportAdmin(AssignableAdmin, ReadOnlyAdmin):
    """Exports. List actions restart and cancel them; a form creates staff exports."""

    change_list_template = "catalogue/exports.html"
    change_form_template = "catalogue/export.html"
    list_display = [
        "short_id",
        "status_badge",
        "content",
        "bar",
        "failure",
        "owner",
        "paid",
        "rows",
        "created_at",
        "assignee",
    ]
    list_filter = ["status", "dataset", "format", OrderedBy, AssigneeFilter]
    list_select_related = ["payment"]
    search_fields = ["wallet__address__exact"]
    search_help_text = "Export id (ex_…), or complete wallet address in lower case"
    empty_hint = "Wallets order exports with POST /v1/exports; staff with the button above or “manage.py export”."
    inlines = [ExportPartInline]
    actions = ["restart", "cancel", *ASSIGNMENT_ACTIONS]
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
        parts = ExportPart.objects.only("export", "kind", "state", "rows")
        return super().get_queryset(request).prefetch_related(Prefetch("parts", parts))

    status_badge = badge_column("status", "Status")

    @admin.display(description="Export")
    def short_id(self, export: Export) -> SafeString:
        return short_id(export.public_id)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Exports that failed recently and were not restarted."""
        since = (timezone.now() - RECENT_FAILURES).replace(hour=0, minute=0, second=0, microsecond=0)
        wanted = {"status__exact": Export.Status.FAILED.value, "created_at__gte": since.isoformat()}
        address = f"{reverse('admin:catalogue_export_changelist')}?{urlencode(wanted)}"
        failed = Export.objects.filter(status=Export.Status.FAILED, created_at__gte=since)
        return [
            self.count_pending(
                request, "exports failed in 7 days", failed, address, waits_since="created_at", is_bad=True
            )
        ]

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = OrderForm(request.POST or None)
        if form.is_valid():
            try:
                export = commands.create_export(None, tier=FREE, now=timezone.now(), **form.arguments)
            except ApiError as refusal:
                form.blame(refusal)
            else:
                enqueue_export_step(export)
                self.message_user(request, f"Export {export.public_id} is {export.status}.", messages.SUCCESS)
                return HttpResponseRedirect(reverse("admin:catalogue_export_change", args=[export.pk]))
        context = {**self.admin_site.each_context(request), "title": "Create export", "opts": self.opts, "form": form}
        return TemplateResponse(request, "catalogue/order_export.html", context)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return super(ReadOnlyAdmin, self).has_add_permission(request)

    @admin.display(description="Error")
    def failure(self, export: Export) -> str:
        return Truncator(export.error).chars(60)

    @admin.display(description="Wallet", ordering="wallet")
    def owner(self, export: Export) -> str:
        return shorten_address(export.wallet_id) if export.wallet_id else "staff"

    @admin.display(description="Content")
    def content(self, export: Export) -> str:
        return f"{export.dataset}, {export.format}{', delta' if export.since_export_id else ''}"

    @admin.display(description="Paid")
    def paid(self, export: Export) -> SafeString | str:
        if export.payment is None:
            return "nothing"
        address = reverse("admin:payments_payment_change", args=[export.payment.pk])
        state = export.payment.get_state_display().partition(":")[0].lower()
        amount = f"{export.payment.amount_usdc.normalize():f}"
        return format_html('<a href="{}">{} USDC, {}</a>', address, amount, state)

    @admin.display(description="Progress")
    def bar(self, export: Export) -> SafeString:
        parts = list(export.parts.all())
        shown = format_html(
            '<progress max="100" value="{0}" aria-label="Progress of {1}"{2}>{0} %</progress> {0} %',
            int(representation.calculate_progress(export, parts) * 100),
            export.public_id,
            mark_safe(" data-runs") if export.status in UNDER_WAY else "",
        )
        pace = representation.calculate_pace(export, parts, now=timezone.now())
        if pace is None:
            return shown
        seconds = round(pace.remaining.total_seconds())
        return format_html(
            '{}<div class="quiet">{} rows/s, {} left</div>',
            shown,
            f"{pace.rows_per_second:,.0f}",
            f"{seconds // 60} min" if seconds >= 120 else f"{seconds} s",
        )

    @admin.display(description="Files", empty_value="none")
    def downloads(self, export: Export) -> SafeString | None:
        shown = representation.represent_export(export, now=timezone.now())
        if shown.manifest_url is None:
            return None
        files = ((file.url, file.name, f"{file.rows:,} rows, {file.bytes / 1e6:.1f} MB") for file in shown.files)
        return format_html(
            '<ul class="files"><li><a href="{}">{}</a></li>{}</ul>',
            shown.manifest_url,
            manifest.NAME,
            format_html_join("", '<li><a href="{}">{}</a> {}</li>', files),
        )

    @confirmed_action(
        "Restart the selected failed exports",
        message="These failed exports are written again.",
        confirm_label="Restart exports",
        applies_to=lambda exports: exports.filter(status=Export.Status.FAILED),
    )
    def restart(self, request: HttpRequest, queryset: QuerySet[Export]) -> None:
        for export in queryset:
            with errors_as_messages(request, prefix=f"Export {export.public_id}: "):
                if commands.restart_export(export, actor=get_staff_actor(request), now=timezone.now()):
                    enqueue_export_step(export)
                    self.message_user(request, f"Export {export.public_id} is queued.", messages.SUCCESS)
                else:
                    self.message_user(request, f"Export {export.public_id} has not failed.", messages.ERROR)

    @admin.action(description="Cancel the selected exports, and delete their files", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Export]) -> HttpResponse | None:
        if "confirmed" not in request.POST:
            found = queryset.filter(status__in=[*UNFINISHED, Export.Status.SUCCEEDED])
            context: dict[str, Any] = {"title": "Cancel exports?", "count": found.count(), "examples": found[:20]}
            return render_confirmation(self, request, "catalogue/confirm_cancel.html", action="cancel", **context)
        for export in queryset:
            if commands.cancel_export(export, actor=get_staff_actor(request), now=timezone.now()):
                outcome, level = "was cancelled and its files deleted", messages.SUCCESS
            else:
                outcome, level = "had no files", messages.ERROR
            self.message_user(request, f"Export {export.public_id} {outcome}.", level)
        return None


@admin.register(ExportPart)
class ExportPartAdmin(ReadOnlyAdmin):
    """Parts of all exports, to find those that keep failing."""

    list_display = ["id", "export", "seq", "state", "attempts", "lease_until", "rows", "bytes"]
    list_select_related = ["export"]
    list_filter = ["state"]
    search_fields = ["sha256__exact"]
    search_help_text = "Complete SHA-256 of the file"
    empty_hint = "A worker splits an export into parts when it starts."
