"""Bulk exports, for staff."""

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator

from accounts.authentication import staff
from catalogue.exports import record, start
from catalogue.models import Export, ExportPart
from catalogue.models.exports import UNFINISHED
from catalogue.tasks import ring_for_export
from config.api.refusal import Refusal
from config.confirming import ask
from config.long_tables import LongTableAdmin
from payments.models import shortened


class ReadOnly:
    """What workers write: looked at, never edited."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Asked for through the API."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """The wallet may ask what became of it."""
        return False


class ExportPartInline(ReadOnly, admin.TabularInline[ExportPart, Export]):
    """The parts, in their order."""

    model = ExportPart
    fields = ["seq", "state", "tries", "lease_until", "rows", "bytes", "checksum", "sources"]
    readonly_fields = ["seq", "state", "tries", "lease_until", "rows", "bytes", "checksum", "sources"]
    ordering = ["seq"]
    extra = 0
    can_delete = False

    @admin.display(description="SHA-256", empty_value="-")
    def checksum(self, part: ExportPart) -> SafeString | None:
        """The beginning, with the whole of it to be pointed at."""
        return format_html('<span title="{}">{}…</span>', part.sha256, part.sha256[:12]) if part.sha256 else None

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Workers write these."""
        return False


@admin.register(Export)
class ExportAdmin(ReadOnly, LongTableAdmin):
    """Exports. They are begun anew and cancelled by the actions of the list."""

    list_display = ["public_id", "status", "failure", "bar", "owner", "rows", "created_at"]
    list_filter = ["status", "dataset"]
    search_fields = ["wallet__address__exact"]
    search_help_text = "The address of the wallet, whole and in small letters"
    inlines = [ExportPartInline]
    actions = ["restart", "cancel"]
    readonly_fields = ["public_id", "bar"]
    fields = [
        ("public_id", "status", "bar"),
        "error",
        ("wallet", "queue"),
        ("dataset", "format", "filter"),
        ("rows_total", "rows", "manifest_sha256"),
        ("created_at", "snapshot_at", "finished_at", "expires_at"),
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Export]:
        """With the parts, which the progress is told by."""
        return super().get_queryset(request).prefetch_related("parts")

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> list[str]:
        """All of it."""
        return [name for row in self.fields or () for name in ([row] if isinstance(row, str) else row)]

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """By the actions of the list; the page of one export is for reading."""
        return obj is None and super().has_change_permission(request)

    @admin.display(description="Error")
    def failure(self, export: Export) -> str:
        """The beginning of what went wrong."""
        return Truncator(export.error).chars(60)

    @admin.display(description="Wallet", ordering="wallet")
    def owner(self, export: Export) -> str:
        """As people tell addresses apart."""
        return shortened(export.wallet_id) if export.wallet_id else "staff"

    @admin.display(description="Progress")
    def bar(self, export: Export) -> SafeString:
        """A bar with its number, which is also what is read out."""
        percent = int(record.progress(export, list(export.parts.all())) * 100)
        return format_html(
            '<progress max="100" value="{0}" aria-label="Progress of {1}">{0} %</progress> {0} %',
            percent,
            export.public_id,
        )

    @admin.action(description="Begin the selected exports anew (failed ones)", permissions=["change"])
    def restart(self, request: HttpRequest, queryset: QuerySet[Export]) -> None:
        """Queue those that have failed, and say which have not."""
        for export in queryset:
            try:
                begun = start.restart(export)
            except Refusal as refusal:
                self.message_user(request, f"Export {export.public_id}: {refusal.message}", messages.ERROR)
                continue
            if begun:
                ring_for_export(export)
                self.message_user(request, f"Export {export.public_id} is queued.", messages.SUCCESS)
            else:
                self.message_user(request, f"Export {export.public_id} has not failed.", messages.ERROR)

    @admin.action(description="Cancel the selected exports, and remove their files", permissions=["change"])
    def cancel(self, request: HttpRequest, queryset: QuerySet[Export]) -> HttpResponse | None:
        """Ask; then give up those under way, expire those that are done, and say which were neither."""
        if "confirmed" not in request.POST:
            return self.ask(request, queryset.filter(status__in=[*UNFINISHED, Export.Status.SUCCEEDED]))
        for export in queryset:
            if start.cancel(export, actor=staff(request), now=timezone.now()):
                self.message_user(request, f"Export {export.public_id} has no files any more.", messages.SUCCESS)
            else:
                self.message_user(request, f"Export {export.public_id} had none already.", messages.ERROR)
        return None

    def ask(self, request: HttpRequest, queryset: QuerySet[Export]) -> HttpResponse:
        """The page that shows which exports would be cancelled."""
        told = {"count": queryset.count(), "examples": queryset[:20]}
        return ask(self, request, "catalogue/confirm_cancel.html", title="Cancel exports?", action="cancel", **told)


@admin.register(ExportPart)
class ExportPartAdmin(ReadOnly, LongTableAdmin):
    """Parts of all exports, for finding those that are tried again and again."""

    list_display = ["id", "export", "seq", "state", "tries", "lease_until", "rows", "bytes"]
    list_select_related = ["export"]
    list_filter = ["state"]
    search_fields = ["sha256__exact"]
    search_help_text = "The SHA-256 of the file, whole"

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Workers write these."""
        return False
