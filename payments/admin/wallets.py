"""Where staff see wallets and who has signed in."""

from django.contrib import admin, messages
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from payments.admin.reading import ForReading
from payments.models import Wallet, WalletSession


@admin.register(Wallet)
class WalletAdmin(ForReading):
    """Addresses that have proven themselves or paid, and what was last read of their holdings."""

    list_display = ["address", "account", "tier", "holdings_usd", "staked", "read_at"]
    list_select_related = ["account"]
    list_filter = ["tier"]
    search_fields = ["address__exact"]
    search_help_text = "The whole address"
    ordering = [F("read_at").desc(nulls_last=True), "address"]
    autocomplete_fields = ["account"]

    def get_readonly_fields(self, request: HttpRequest, obj: Wallet | None = None) -> list[str]:
        """Only whose it is may be said by hand."""
        return [name for name in super().get_readonly_fields(request, obj) if name != "account"]


@admin.register(WalletSession)
class WalletSessionAdmin(ForReading):
    """Wallets that have signed in, without their tokens."""

    list_display = ["wallet", "created_at", "expires_at", "revoked_at"]
    search_fields = ["wallet__exact"]
    search_help_text = "The whole address of the wallet"
    ordering = ["-pk"]
    fields = ["wallet", "created_at", "expires_at", "revoked_at"]
    actions = ["revoke"]

    @admin.action(description="Revoke the selected sessions, at once and for good", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[WalletSession]) -> None:
        """Revoke; sessions that were revoked before keep their moment."""
        revoked = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, f"{revoked} revoked.", messages.SUCCESS)
