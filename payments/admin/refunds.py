"""Refunds in the back office."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.api_keys.authentication import get_staff_actor
from framework.admin.action_confirmation import render_confirmation
from framework.admin.read_only import ReadOnlyInline
from payments.admin.formats import AddressSearchAdmin, breakable, id_in_short, in_short
from payments.ledger import transitions
from payments.models import Refund
from payments.pricing.price_changes import moment_told, told


class RefundColumns:
    """The columns of a refund, for the page of its payment and for the list."""

    @admin.display(description="On the chain")
    def seen(self, refund: Refund) -> SafeString | str:
        """Confirmation time, not confirmed, or in red what the chain shows instead."""
        if refund.error:
            return format_html('<b class="wrong">{}</b>', refund.error)
        return f"Confirmed {refund.confirmed_at:%Y-%m-%d %H:%M} UTC" if refund.confirmed_at else "Not confirmed yet"

    @admin.display(description="Sent by", empty_value="-")
    def sent_by(self, refund: Refund) -> SafeString | None:
        """The shortened sender addresses, with the full addresses as tooltips."""
        return (
            format_html_join(", ", "{}", ((in_short(sender),) for sender in refund.senders))
            if refund.senders
            else None
        )

    @admin.display(description="Transaction")
    def transaction(self, refund: Refund) -> SafeString:
        """The shortened hash, with the full hash as a tooltip."""
        return in_short(refund.tx_hash)


class RefundInline(RefundColumns, ReadOnlyInline):
    """The refund of a payment."""

    model = Refund
    verbose_name = verbose_name_plural = "Refund"
    fields = ["amount_usdc", "transaction", "sent_by", "by", "created_at", "seen"]
    readonly_fields = ["transaction", "sent_by", "seen"]


class ChainFilter(admin.SimpleListFilter):
    """Filters by the confirmation on the chain."""

    title = "confirmation"
    parameter_name = "chain"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices."""
        return [("otherwise", "Differs"), ("waiting", "Not confirmed yet"), ("seen", "Confirmed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filter by confirmation."""
        match self.value():
            case "otherwise":
                return queryset.filter(confirmed_at=None).exclude(error="")
            case "waiting":
                return queryset.filter(confirmed_at=None, error="")
            case "seen":
                return queryset.exclude(confirmed_at=None)
        return queryset


@admin.register(Refund)
class RefundAdmin(RefundColumns, AddressSearchAdmin):
    """Recorded refunds. A record that the chain does not confirm can be deleted and recorded again."""

    empty_hint = "The action “Record refund” of payments adds rows."
    list_display = ["amount", "seen", "wallet", "transaction", "sent_by", "recorded_by", "recorded", "payment_link"]
    list_select_related = ["payment"]
    list_filter = [ChainFilter]
    search_fields = ["tx_hash__exact", "payment__payer__exact"]
    search_help_text = "Complete transaction hash or payer address"
    ordering = ["-pk"]
    actions = ["take_back"]

    @admin.display(description="Payment")
    def payment_link(self, refund: Refund) -> SafeString:
        """The payment id with a link."""
        where = reverse("admin:payments_payment_change", args=[refund.payment_id])
        return format_html('<a href="{}">{}</a>', where, id_in_short(refund.payment.public_id))

    @admin.display(description="USDC")
    def amount(self, refund: Refund) -> str:
        """Without trailing zeros."""
        return told(refund.amount_usdc)

    @admin.display(description="Recorded by")
    def recorded_by(self, refund: Refund) -> SafeString:
        """The user who recorded it."""
        return breakable(refund.by)

    @admin.display(description="Recorded")
    def recorded(self, refund: Refund) -> str:
        """The time of the record, in UTC."""
        return moment_told(refund.created_at)

    @admin.display(description="To")
    def wallet(self, refund: Refund) -> SafeString:
        """The shortened payer address, with the full address as a tooltip."""
        return in_short(refund.to)

    @admin.action(description="Delete the refund record: the refund is due again", permissions=["change"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[Refund]) -> HttpResponse | None:
        """Ask for confirmation, then delete unconfirmed refund records."""
        unseen = queryset.filter(confirmed_at=None)
        if "confirmed" not in request.POST:
            context = {"count": unseen.count(), "examples": unseen.select_related("payment")[:20]}
            title = "Delete refund records?"
            return render_confirmation(
                self, request, "payments/confirm_delete_refund_record.html", title=title, action="take_back", **context
            )
        chosen = list(queryset.values_list("payment_id", flat=True))
        deleted = sum(transitions.withdraw_refund(payment, by=get_staff_actor(request)) for payment in chosen)
        self.message_user(
            request, f"{deleted} refunds are due again.", messages.SUCCESS if deleted else messages.ERROR
        )
        if deleted < len(chosen):
            text = f"{len(chosen) - deleted} not changed: confirmed on the chain."
            self.message_user(request, text, messages.WARNING)
        return None
