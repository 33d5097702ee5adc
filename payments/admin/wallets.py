"""Where staff see wallets, what they held, and who has signed in."""

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
from payments.models import HoldingSnapshot, Payment, Wallet, WalletSession, shortened
from payments.pricing.price_changes import moment_told, told

SNAPSHOTS_DRAWN = 100
SNAPSHOTS_LISTED = 10
SESSIONS_LISTED = 10


@admin.register(Wallet)
class WalletAdmin(AddressSearchAdmin):
    """Addresses that have proven themselves or paid, what they hold and held, and what they paid."""

    nothing_yet = "A wallet that signs in or pays has a line here from then on."
    sortable_by = None
    list_display = ["short", "tier", "usd", "rising", "its_stake", "account", "read"]
    list_select_related = ["account"]
    list_filter = ["tier", "rising_tier"]
    search_fields = ["address__startswith", "account__name"]
    search_help_text = "The beginning of the address, or a part of the account's name"
    ordering = [F("read_at").desc(nulls_last=True), "address"]
    autocomplete_fields = ["account"]
    editable_fields = ("account",)
    fieldsets = [
        (None, {"fields": ["address", "account", "tier", "rising", "created_at"]}),
        ("Holdings", {"fields": ["holdings_usd", "staked", "read_at", "snapshots"]}),
        ("What it does", {"fields": ["paid", "plans", "sessions"]}),
    ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """One wallet; its whole address is wider than a phone, and stands among the fields."""
        return super().change_view(
            request, object_id, form_url, {"subtitle": shortened(object_id), **(extra_context or {})}
        )

    @admin.display(description="Address", ordering="address")
    def short(self, wallet: Wallet) -> SafeString:
        """Shortened; whole where the pointer rests."""
        return in_short(wallet.address)

    @admin.display(description="Holdings, in USD", ordering="holdings_usd")
    def usd(self, wallet: Wallet) -> str:
        """As people write it."""
        return told(wallet.holdings_usd)

    @admin.display(description="Staked", ordering="staked")
    def its_stake(self, wallet: Wallet) -> str:
        """As people write it."""
        return told(wallet.staked)

    @admin.display(description="Read", ordering="read_at")
    def read(self, wallet: Wallet) -> str:
        """When the chain was read, in UTC."""
        return moment_told(wallet.read_at) if wallet.read_at else "-"

    @admin.display(description="Rises to", ordering="rises_at")
    def rising(self, wallet: Wallet) -> str:
        """The tier that its holding leads to, and when."""
        if not wallet.rising_tier or wallet.rises_at is None:
            return "-"
        return f"{wallet.rising_tier}, {moment_told(wallet.rises_at)} if it stays"

    @admin.display(description="Readings")
    def snapshots(self, wallet: Wallet) -> SafeString | str:
        """The newest ones, as a line and in words."""
        newest = list(wallet.snapshots.order_by("-read_at")[:SNAPSHOTS_DRAWN])
        lines = (
            (moment_told(each.read_at), told(each.holdings_usd), told(each.staked), each.tier)
            for each in newest[:SNAPSHOTS_LISTED]
        )
        listed = format_html_join("", "{}: {} USD, {} staked, {}<br>", lines)
        return format_html("{}{}", sparkline(newest[::-1]), listed) if newest else "none"

    @admin.display(description="Payments")
    def paid(self, wallet: Wallet) -> SafeString:
        """What has arrived from it, and was not sent back."""
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
        """What was agreed with its owner; that of its account stands there."""
        found = (
            (
                reverse("admin:payments_plan_change", args=[plan.pk]),
                plan,
                moment_told(plan.valid_from),
                f"to {moment_told(plan.valid_until)}" if plan.valid_until else "on",
            )
            for plan in wallet.plans.order_by("-valid_from")
        )
        return format_html_join("", '<a href="{}">{}</a>, from {} {}<br>', found) or "none"

    @admin.display(description="Sessions")
    def sessions(self, wallet: Wallet) -> SafeString | str:
        """The newest ones."""
        now = timezone.now()
        found = [
            (moment_told(each.created_at), moment_told(each.expires_at), standing(each, over=each.expires_at <= now))
            for each in wallet.sessions.order_by("-created_at", "-pk")[:SESSIONS_LISTED]
        ]
        if not found:
            return "none"
        listed = format_html_join("", "{} to {}{}<br>", found)
        address = reverse("admin:payments_walletsession_changelist")
        return format_html('{}<a href="{}?q={}">All of them</a>', listed, address, wallet.pk)


@admin.register(WalletSession)
class WalletSessionAdmin(AddressSearchAdmin):
    """Wallets that have signed in, without their tokens."""

    nothing_yet = "Wallets that sign in with POST /v1/auth/session have a line here."
    sortable_by = None
    list_display = ["short", "created_at", "expires_at", "revoked_at"]
    search_fields = ["wallet__exact"]
    search_help_text = "The whole address of the wallet"
    ordering = ["-pk"]
    fields = ["wallet", "created_at", "expires_at", "revoked_at"]
    actions = ["revoke"]

    @admin.display(description="Wallet", ordering="wallet")
    def short(self, session: WalletSession) -> SafeString:
        """Its address, shortened; whole where the pointer rests."""
        return in_short(session.wallet_id)

    @admin.action(description="Revoke the selected sessions, at once and for good", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[WalletSession]) -> None:
        """Revoke; sessions that were revoked before keep their moment."""
        revoked = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, f"{revoked} revoked.", messages.SUCCESS)


def standing(session: WalletSession, *, over: bool) -> str:
    """What became of a session, in words behind its times."""
    return ", revoked" if session.revoked_at else ", over" if over else ""


def sparkline(snapshots: Sequence[HoldingSnapshot]) -> SafeString | str:
    """What a wallet held, the oldest reading first, as a line whose top is the most of it."""
    if len(snapshots) < 2:
        return ""
    most = max(each.holdings_usd for each in snapshots)
    wide = Decimal(296) / (len(snapshots) - 1)
    points = " ".join(
        f"{2 + place * wide:.1f},{(46 - 44 * each.holdings_usd / most) if most else 46:.1f}"
        for place, each in enumerate(snapshots)
    )
    return format_html(
        '<svg viewBox="0 0 300 48" width="300" height="48" role="img">'
        "<title>Holdings of {} readings, at most {} USD</title>"
        '<polyline points="{}" fill="none" stroke="currentColor" stroke-width="1.5"/></svg>',
        len(snapshots),
        told(most),
        points,
    )
