"""The admin of wallets and wallet sessions."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, F, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from framework.admin.action_confirmation import confirmed_action
from payments.admin import columns
from payments.admin.columns import AddressSearchAdmin
from payments.formatting import format_amount, format_time
from payments.models import HoldingSnapshot, Payment, Wallet, WalletSession, shorten_address

MAX_SNAPSHOTS_DRAWN = 100
MAX_SNAPSHOTS_LISTED = 10
MAX_SESSIONS_LISTED = 10


@admin.register(Wallet)
class WalletAdmin(AddressSearchAdmin):
    """Wallets that have signed in or paid, with holdings and payments."""

    empty_hint = "Each wallet that signs in or pays adds a row."
    sortable_by = None
    list_display = ["short_address", "tier", "usd", "upcoming_tier", "stake", "account", "last_read"]
    list_select_related = ["account"]
    list_filter = ["tier", "pending_tier"]
    search_fields = ["address__startswith", "account__name__unaccent"]
    is_in_site_search = True
    search_help_text = "Beginning of the address, or part of the account's name"
    ordering = [F("read_at").desc(nulls_last=True), "address"]
    autocomplete_fields = ["account"]
    editable_fields = ("account",)
    short_address = columns.column("address", "Address", columns.short_with_title, ordering="address")
    usd = columns.column("holdings_usd", "Holdings, in USD", format_amount, ordering="holdings_usd")
    stake = columns.column("staked", "Staked", format_amount, ordering="staked")
    last_read = columns.column("read_at", "Last read", format_time, ordering="read_at")
    fieldsets = [
        (None, {"fields": ["address", "account", "tier", "upcoming_tier", "created_at"]}),
        ("Holdings", {"fields": ["holdings_usd", "staked", "read_at", "holdings_history"]}),
        ("Activity", {"fields": ["payments", "plans", "sessions"]}),
    ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        # The full address is wider than a phone.
        context = {"subtitle": shorten_address(object_id), **(extra_context or {})}
        return super().change_view(request, object_id, form_url, context)

    @admin.display(description="Upcoming tier", ordering="pending_tier_at")
    def upcoming_tier(self, wallet: Wallet) -> str:
        if not wallet.pending_tier or wallet.pending_tier_at is None:
            return "-"
        return f"{wallet.pending_tier}, {format_time(wallet.pending_tier_at)} if the holding remains"

    @admin.display(description="Holdings history")
    def holdings_history(self, wallet: Wallet) -> SafeString | str:
        """The newest readings, as a line chart and as text."""
        newest = list(wallet.snapshots.order_by("-read_at")[:MAX_SNAPSHOTS_DRAWN])
        lines = (
            (
                format_time(each.read_at),
                format_amount(each.holdings_usd),
                format_amount(each.staked),
                each.tier,
                f" ({each.lowest_tier} in between)" if each.lowest_tier not in ("", each.tier) else "",
            )
            for each in newest[:MAX_SNAPSHOTS_LISTED]
        )
        text = format_html_join("", "{}: {} USD, {} staked, {}{}<br>", lines)
        return format_html("{}{}", sparkline(newest[::-1]), text) if newest else "none"

    @admin.display(description="Payments")
    def payments(self, wallet: Wallet) -> SafeString:
        """The payments without refunds."""
        payments = Payment.objects.filter(payer=wallet.pk, state__in=Payment.PAID).exclude(
            state=Payment.State.REFUNDED
        )
        total = payments.aggregate(count=Count("pk"), usdc=Sum("amount_usdc"))
        return format_html(
            '<a href="{}?q={}">{} payments, {} USDC</a>',
            reverse("admin:payments_payment_changelist"),
            wallet.pk,
            total["count"],
            format_amount(total["usdc"] or Decimal(0)),
        )

    @admin.display(description="Plans")
    def plans(self, wallet: Wallet) -> SafeString | str:
        """The plans of the wallet; those of its account are on the account."""
        rows = (
            (
                reverse("admin:payments_plan_change", args=[plan.pk]),
                plan,
                format_time(plan.valid_from),
                f"to {format_time(plan.valid_until)}" if plan.valid_until else "with no end",
            )
            for plan in wallet.plans.order_by("-valid_from")
        )
        return format_html_join("", '<a href="{}">{}</a>, from {} {}<br>', rows) or "none"

    @admin.display(description="Sessions")
    def sessions(self, wallet: Wallet) -> SafeString | str:
        now = timezone.now()
        rows = [
            (
                format_time(each.created_at),
                format_time(each.expires_at),
                ", revoked" if each.revoked_at else ", expired" if each.expires_at <= now else "",
            )
            for each in wallet.sessions.order_by("-created_at", "-pk")[:MAX_SESSIONS_LISTED]
        ]
        if not rows:
            return "none"
        text = format_html_join("", "{} to {}{}<br>", rows)
        url = reverse("admin:payments_walletsession_changelist")
        return format_html('{}<a href="{}?q={}">All sessions</a>', text, url, wallet.pk)


@admin.register(WalletSession)
class WalletSessionAdmin(AddressSearchAdmin):
    empty_hint = "Each POST /v1/auth/session adds a row."
    sortable_by = None
    list_display = ["short_wallet", "created_at", "expires_at", "revoked_at"]
    search_fields = ["wallet__exact"]
    search_help_text = "Complete address of the wallet"
    ordering = ["-pk"]
    fields = ["wallet", "created_at", "expires_at", "revoked_at"]
    actions = ["revoke"]
    short_wallet = columns.column("wallet_id", "Wallet", columns.short_with_title, ordering="wallet")

    @confirmed_action(
        "Revoke the selected sessions permanently",
        message="Requests with these sessions will fail. Their wallets can sign in again.",
        confirm_label="Revoke sessions",
        applies_to=lambda sessions: sessions.filter(revoked_at=None),
    )
    def revoke(self, request: HttpRequest, queryset: QuerySet[WalletSession]) -> None:
        revoked = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, f"{revoked} revoked.", messages.SUCCESS)


def sparkline(snapshots: Sequence[HoldingSnapshot]) -> SafeString | str:
    """Return a line chart of the holdings, oldest reading first."""
    if len(snapshots) < 2:
        return ""
    highest = max(each.holdings_usd for each in snapshots)
    step = Decimal(296) / (len(snapshots) - 1)
    points = " ".join(
        f"{2 + index * step:.1f},{(46 - 44 * each.holdings_usd / highest) if highest else 46:.1f}"
        for index, each in enumerate(snapshots)
    )
    return format_html(
        '<svg viewBox="0 0 300 48" width="300" height="48" role="img">'
        "<title>Holdings of {} readings, at most {} USD</title>"
        '<polyline points="{}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>',
        len(snapshots),
        format_amount(highest),
        points,
    )
