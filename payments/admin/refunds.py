"""The admin of refunds."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.api_keys.authentication import get_staff_actor
from framework.admin.action_confirmation import render_confirmation
from framework.admin.read_only import ReadOnlyInline
from payments.admin import columns
from payments.admin.columns import AddressSearchAdmin, option_filter
from payments.ledger import transitions
from payments.models import Refund


class RefundColumns:
    """The columns of a refund, for the page of its payment and for the list."""

    transaction = columns.short_column("tx_hash", "Transaction")

    @admin.display(description="On the chain")
    def confirmation(self, refund: Refund) -> SafeString | str:
        """Confirmation time, not confirmed, or in red what the chain shows instead."""
        if refund.error:
            return format_html('<b class="wrong">{}</b>', refund.error)
        return f"Confirmed {refund.confirmed_at:%Y-%m-%d %H:%M} UTC" if refund.confirmed_at else "Not confirmed yet"

    @admin.display(description="Sent by", empty_value="-")
    def sent_by(self, refund: Refund) -> SafeString | None:
        senders = ((columns.short_with_title(sender),) for sender in refund.senders)
        return format_html_join(", ", "{}", senders) if refund.senders else None


class RefundInline(RefundColumns, ReadOnlyInline):
    """The refund of a payment."""

    model = Refund
    verbose_name = verbose_name_plural = "Refund"
    fields = ["amount_usdc", "transaction", "sent_by", "by", "created_at", "confirmation"]
    readonly_fields = ["transaction", "sent_by", "confirmation"]


@admin.register(Refund)
class RefundAdmin(RefundColumns, AddressSearchAdmin):
    """Recorded refunds. A record that the chain does not confirm can be deleted and recorded again."""

    empty_hint = "The action “Record refund” of payments adds rows."
    list_display = [
        *("amount", "confirmation", "wallet", "transaction", "sent_by", "recorded_by", "recorded", "payment_link"),
    ]
    list_select_related = ["payment"]
    list_filter = [
        option_filter(
            "confirmation",
            "confirmation",
            {
                "differs": ("Differs", lambda rows: rows.filter(confirmed_at=None).exclude(error="")),
                "pending": ("Not confirmed yet", lambda rows: rows.filter(confirmed_at=None, error="")),
                "confirmed": ("Confirmed", lambda rows: rows.exclude(confirmed_at=None)),
            },
        )
    ]
    search_fields = ["tx_hash__exact", "payment__payer__exact"]
    search_help_text = "Complete transaction hash or payer address"
    ordering = ["-pk"]
    actions = ["delete_refund_records"]
    amount = columns.amount_column("amount_usdc")
    recorded_by = columns.actor_column("by", "Recorded by")
    recorded = columns.time_column("created_at", "Recorded")
    wallet = columns.short_column("to", "To")

    @admin.display(description="Payment")
    def payment_link(self, refund: Refund) -> SafeString:
        return columns.payment_link(refund.payment_id)

    @admin.action(description="Delete the refund record: the refund is due again", permissions=["change"])
    def delete_refund_records(self, request: HttpRequest, queryset: QuerySet[Refund]) -> HttpResponse | None:
        """Ask for confirmation, then delete unconfirmed refund records."""
        if "confirmed" not in request.POST:
            unconfirmed = queryset.filter(confirmed_at=None)
            return render_confirmation(
                self,
                request,
                "payments/confirm_delete_refund_record.html",
                title="Delete refund records?",
                action="delete_refund_records",
                count=unconfirmed.count(),
                examples=unconfirmed.select_related("payment")[:20],
            )
        selected = list(queryset.values_list("payment_id", flat=True))
        deleted = sum(transitions.withdraw_refund(payment, by=get_staff_actor(request)) for payment in selected)
        self.message_user(
            request, f"{deleted} refunds are due again.", messages.SUCCESS if deleted else messages.ERROR
        )
        if deleted < len(selected):
            text = f"{len(selected) - deleted} not changed: confirmed on the chain."
            self.message_user(request, text, messages.WARNING)
        return None
