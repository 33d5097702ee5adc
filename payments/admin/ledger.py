"""Where staff see the ledger, and note what was sent back."""

import re

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from accounts.authentication import staff
from config.api import ids
from payments import ledger
from payments.admin.reading import ForReading
from payments.models import Payment
from payments.wire.receipts import PREFIX

HASH = re.compile(r"0x[0-9a-f]{64}")


class RefundForm(ActionForm):
    """Asks beside the action in which transaction the money was sent back."""

    refund_tx_hash = forms.CharField(label="Refund transaction:", required=False, max_length=66)


@admin.register(Payment)
class PaymentAdmin(ForReading):
    """The ledger. Money that is owed back is sent by hand, elsewhere, and noted here.

    For a quarter of an hour it may still buy something: only then is it to be sent back.
    """

    list_display = ["created_at", "state", "send_back", "amount_usdc", "payer", "products", "tx_hash", "form"]
    list_filter = ["state", "form"]
    search_fields = ["tx_hash__exact", "payer__exact"]
    search_help_text = "A payment's id (pay_...), a transaction's hash, or the payer's address; whole"
    ordering = ["-pk"]
    action_form = RefundForm
    actions = ["mark_refunded"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Payment], search_term: str
    ) -> tuple[QuerySet[Payment], bool]:
        """Refusals and receipts name a payment by its public id."""
        named = ids.decode(PREFIX, search_term.strip().lower())
        if named is not None:
            return queryset.filter(pk=named), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="Send back", boolean=True)
    def send_back(self, payment: Payment) -> bool | None:
        """Whether it is time to send the money back; empty where nothing is owed."""
        if payment.state != Payment.State.REFUND_DUE:
            return None
        return ledger.is_to_be_sent_back(payment, now=timezone.now())

    @admin.action(description="Mark as refunded in the transaction:", permissions=["change"])
    def mark_refunded(self, request: HttpRequest, queryset: QuerySet[Payment]) -> None:
        """Note the transaction that sent the money back; what is not owed, or may still be spent, stays as it is."""
        tx_hash = request.POST.get("refund_tx_hash", "").strip().lower()
        if not HASH.fullmatch(tx_hash):
            self.message_user(request, "Name the transaction: 0x and 64 hexadecimal digits.", messages.ERROR)
            return
        now = timezone.now()
        refunded = sum(ledger.refund(row.pk, tx_hash=tx_hash, by=staff(request), now=now) for row in queryset)
        self.message_user(request, f"{refunded} marked as refunded.", messages.SUCCESS if refunded else messages.ERROR)
        early = queryset.filter(state=Payment.State.REFUND_DUE).count()
        if early:
            self.message_user(request, f"{early} may still be spent: see the column Send back.", messages.ERROR)
