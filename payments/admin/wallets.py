"""Wallets and wallet sessions in the back office."""

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

from payments.admin.formats import AddressSearchAdmin, in_short
from payments.models import HoldingSnapshot, Payment, Wallet, WalletSession, shorten_address
from payments.pricing.price_changes import moment_told, told

SNAPSHOTS_DRAWN = 100
SNAPSHOTS_LISTED = 10
SESSIONS_LISTED = 10


@admin.register(Wallet)
class WalletAdmin(AddressSearchAdmin):
    """Wallets that have signed in or paid, with holdings and payments."""

    empty_hint = "Each wallet that signs in or pays adds a row."
    sortable_by = None
    list_display = ["short", "tier", "usd", "rising", "its_stake", "account", "read"]
    list_select_related = ["account"]
    list_filter = ["tier", "rising_tier"]
    search_fields = ["address__startswith", "account__name"]
    search_help_text = "Beginning of the address, or part of the account's name"
    ordering = [F("read_at").desc(nulls_last=True), "address"]
    autocomplete_fields = ["account"]
    editable_fields = ("account",)
    fieldsets = [
        (None, {"fields": ["address", "account", "tier", "rising", "created_at"]}),
        ("Holdings", {"fields": ["holdings_usd", "staked", "read_at", "snapshots"]}),
        ("Activity", {"fields": ["paid", "plans", "sessions"]}),
    ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Use the shortened address as the subtitle: the full one is wider than a phone."""
        return super().change_view(
            request, object_id, form_url, {"subtitle": shorten_address(object_id), **(extra_context or {})}
        )

    @admin.display(description="Address", ordering="address")
    def short(self, wallet: Wallet) -> SafeString:
        """The shortened address, with the full address as a tooltip."""
        return in_short(wallet.address)

    @admin.display(description="Holdings, in USD", ordering="holdings_usd")
    def usd(self, wallet: Wallet) -> str:
        """Without trailing zeros."""
        return told(wallet.holdings_usd)

    @admin.display(description="Staked", ordering="staked")
    def its_stake(self, wallet: Wallet) -> str:
        """Without trailing zeros."""
        return told(wallet.staked)

    @admin.display(description="Last read", ordering="read_at")
    def read(self, wallet: Wallet) -> str:
        """The time of the last chain read, in UTC."""
        return moment_told(wallet.read_at) if wallet.read_at else "-"

    @admin.display(description="Upcoming tier", ordering="rises_at")
    def rising(self, wallet: Wallet) -> str:
        """The tier that the holding qualifies for, and when."""
        if not wallet.rising_tier or wallet.rises_at is None:
            return "-"
        return f"{wallet.rising_tier}, {moment_told(wallet.rises_at)} if the holding remains"

    @admin.display(description="Holdings history")
    def snapshots(self, wallet: Wallet) -> SafeString | str:
        """The newest readings, as a line chart and as text."""
        newest = list(wallet.snapshots.order_by("-read_at")[:SNAPSHOTS_DRAWN])
        lines = (
            (moment_told(each.read_at), told(each.holdings_usd), told(each.staked), each.tier)
            for each in newest[:SNAPSHOTS_LISTED]
        )
        listed = format_html_join("", "{}: {} USD, {} staked, {}<br>", lines)
        return format_html("{}{}", sparkline(newest[::-1]), listed) if newest else "none"

    @admin.display(description="Payments")
    def paid(self, wallet: Wallet) -> SafeString:
        """The payments without refunds."""
        arrived = Payment.objects.filter(payer=wallet.pk, state__in=Payment.PAID).exclude(state=Payment.State.REFUNDED)
        total = arrived.aggregate(count=Count("pk"), usdc=Sum("amount_usdc"))
        return format_html(
            '<a href="{}?q={}">{} payments, {} USDC</a>',
            reverse("admin:payments_payment_changelist"),
            wallet.pk,
            total["count"],
            told(total["usdc"] or Decimal(0)),
        )

    @admin.display(description="Plans")
    def plans(self, wallet: Wallet) -> SafeString | str:
        """The plans of the wallet; those of its account are on the account."""
        found = (
            (
                reverse("admin:payments_plan_change", args=[plan.pk]),
                plan,
                moment_told(plan.valid_from),
                f"to {moment_told(plan.valid_until)}" if plan.valid_until else "with no end",
            )
            for plan in wallet.plans.order_by("-valid_from")
        )
        return format_html_join("", '<a href="{}">{}</a>, from {} {}<br>', found) or "none"

    @admin.display(description="Sessions")
    def sessions(self, wallet: Wallet) -> SafeString | str:
        """The newest sessions."""
        now = timezone.now()
        found = [
            (
                moment_told(each.created_at),
                moment_told(each.expires_at),
                session_state(each, over=each.expires_at <= now),
            )
            for each in wallet.sessions.order_by("-created_at", "-pk")[:SESSIONS_LISTED]
        ]
        if not found:
            return "none"
        listed = format_html_join("", "{} to {}{}<br>", found)
        address = reverse("admin:payments_walletsession_changelist")
        return format_html('{}<a href="{}?q={}">All sessions</a>', listed, address, wallet.pk)


@admin.register(WalletSession)
class WalletSessionAdmin(AddressSearchAdmin):
    """Wallet sessions without their tokens."""

    empty_hint = "Each POST /v1/auth/session adds a row."
    sortable_by = None
    list_display = ["short", "created_at", "expires_at", "revoked_at"]
    search_fields = ["wallet__exact"]
    search_help_text = "Complete address of the wallet"
    ordering = ["-pk"]
    fields = ["wallet", "created_at", "expires_at", "revoked_at"]
    actions = ["revoke"]

    @admin.display(description="Wallet", ordering="wallet")
    def short(self, session: WalletSession) -> SafeString:
        """The shortened address, with the full address as a tooltip."""
        return in_short(session.wallet_id)

    @admin.action(description="Revoke the selected sessions permanently", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[WalletSession]) -> None:
        """Revoke; sessions that were already revoked keep their time."""
        revoked = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, f"{revoked} revoked.", messages.SUCCESS)


def session_state(session: WalletSession, *, over: bool) -> str:
    """Return the state of an ended session, as a suffix."""
    return ", revoked" if session.revoked_at else ", expired" if over else ""


def sparkline(snapshots: Sequence[HoldingSnapshot]) -> SafeString | str:
    """Return a line chart of the holdings, oldest reading first."""
    if len(snapshots) < 2:
        return ""
    highest = max(each.holdings_usd for each in snapshots)
    wide = Decimal(296) / (len(snapshots) - 1)
    points = " ".join(
        f"{2 + place * wide:.1f},{(46 - 44 * each.holdings_usd / highest) if highest else 46:.1f}"
        for place, each in enumerate(snapshots)
    )
    return format_html(
        '<svg viewBox="0 0 300 48" width="300" height="48" role="img">'
        "<title>Holdings of {} readings, at most {} USD</title>"
        '<polyline points="{}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>',
        len(snapshots),
        told(highest),
        points,
    )
