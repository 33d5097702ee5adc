"""The admin of refunds."""

from typing import ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.api_keys.authentication import get_staff_actor
from framework.admin.action_confirmation import render_confirmation
from framework.admin.badges import badge
from framework.admin.list_filters import option_filter
from framework.admin.read_only import ReadOnlyInline
from payments.admin import columns
from payments.admin.columns import AddressSearchAdmin
from payments.formatting import format_time
from payments.ledger import transitions
from payments.models import Refund
from payments.models.payments import PREFIX


class RefundColumns:
    """The columns of a refund, for the page of its payment and for the list."""

    transaction = columns.column("tx_hash", "Transaction", columns.short_with_title)

    @admin.display(description="On the chain")
    def confirmation(self, refund: Refund) -> SafeString:
        """Confirmation time, not confirmed, or in red what the chain shows instead."""
        if refund.error:
            return format_html('{} <b class="wrong">{}</b>', badge("differs", "bad"), refund.error)
        if refund.confirmed_at:
            return format_html("{} {}", badge("confirmed", "good"), format_time(refund.confirmed_at))
        return badge("not confirmed yet", "info")

    @admin.display(description="Sent by", empty_value="-")
    def sent_by(self, refund: Refund) -> SafeString | None:
        senders = ((columns.short_with_title(sender),) for sender in refund.senders)
        return format_html_join(", ", "{}", senders) if refund.senders else None


class RefundInline(RefundColumns, ReadOnlyInline):
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
    id_columns: ClassVar = {PREFIX: "payment_id"}
    search_help_text = "Transaction hash or payer"
    ordering = ["-pk"]
    actions = ["delete_refund_records"]
    amount = columns.column("amount_usdc", "Amount", columns.usdc)
    recorded_by = columns.column("by", "Recorded by", columns.breakable_actor)
    recorded = columns.column("created_at", "Recorded", format_time)
    wallet = columns.column("to", "To", columns.short_with_title)

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
        unchanged, reason = len(selected) - deleted, "not changed: confirmed on the chain."
        columns.report_changes(self, request, deleted, "refunds are due again.", unchanged=unchanged, reason=reason)
        return None
