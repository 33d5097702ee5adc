"""The admin of payment events: every state change of every payment, also of released ones."""

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from framework.admin.badges import COLOURS, badge
from framework.admin.list_filters import option_filter
from framework.admin.read_only import ReadOnlyInline
from payments.admin import columns
from payments.admin.columns import AddressSearchAdmin
from payments.formatting import format_time
from payments.models import Payment, PaymentEvent
from payments.models.payments import PREFIX

STATES = dict(Payment.State.choices)


def state_label(name: str) -> str:
    return STATES.get(name, name).partition(":")[0]


def state_badge(name: str) -> SafeString:
    return badge(state_label(name), COLOURS.get(name, ""))


class EventColumns:
    """The columns of an event, for the page of its payment and for the list."""

    transaction = columns.column("tx_hash", "Transaction", columns.short_with_title)
    state_before = columns.column("before", "Before", state_badge)
    state_after = columns.column("after", "After", state_badge, empty="Released")


class EventInline(EventColumns, ReadOnlyInline):
    """The history of a payment, oldest first, written by database triggers."""

    model = PaymentEvent
    verbose_name_plural = "State changes"
    ordering = ["pk"]
    fields = ["at", "state_before", "state_after", "attempt", "amount_usdc", "transaction", "error", "actor"]
    readonly_fields = ["state_before", "state_after", "transaction"]


@admin.register(PaymentEvent)
class PaymentEventAdmin(EventColumns, AddressSearchAdmin):
    """The events of all payments. Of a released payment, for which nothing was sent, only these events remain."""

    empty_hint = "Each new payment and each state change adds a row."
    list_display = [
        *("state_change", "amount", "wallet", "error_text", "actor_name", "time", "transaction", "payment_link"),
    ]
    # For payers' enquiries.
    list_filter = [
        option_filter(
            "new state",
            "new_state",
            {
                "released": ("Released", lambda rows: rows.filter(after="")),
                "expired": ("Expired", lambda rows: rows.filter(after="expired")),
                "refund_due": ("Refund due", lambda rows: rows.filter(after="refund_due")),
                "refunded": ("Refunded", lambda rows: rows.filter(after="refunded")),
            },
        )
    ]
    id_columns: ClassVar = {PREFIX: "payment_id"}
    search_fields = ["payer__exact"]
    search_help_text = "Complete payer address, payment id (pay_...) or transaction hash"
    ordering = ["-pk"]
    fields = [
        *("payment_link", "at", "state_before", "state_after", "attempt"),
        *("payer", "amount_usdc", "tx_hash", "error", "actor"),
    ]
    amount = columns.column("amount_usdc", "Amount", columns.usdc)
    wallet = columns.column("payer", "Payer", columns.short_with_title)
    error_text = columns.column("error", "Error", columns.breakable, empty="")
    actor_name = columns.column("actor", "Actor", columns.breakable_actor)
    time = columns.column("at", "At", format_time)

    def get_queryset(self, request: HttpRequest) -> QuerySet[PaymentEvent]:
        exists = Exists(Payment.objects.filter(pk=OuterRef("payment_id")))
        events: QuerySet[PaymentEvent] = super().get_queryset(request)
        return events.annotate(payment_exists=exists)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[PaymentEvent], search_term: str
    ) -> tuple[QuerySet[PaymentEvent], bool]:
        tx_hash = search_term.strip().lower()
        if len(tx_hash) == 66:
            payments = Payment.objects.filter(Q(tx_hash=tx_hash) | Q(refund__tx_hash=tx_hash))
            return queryset.filter(payment_id__in=list(payments.values_list("pk", flat=True)[:100])), False
        return super().get_search_results(request, queryset, search_term)

    @admin.display(description="State")
    def state_change(self, event: PaymentEvent) -> str:
        after = state_label(event.after) or "Released"
        return f"{after}, was {state_label(event.before)}" if event.before else after

    @admin.display(description="Payment")
    def payment_link(self, event: Any) -> SafeString:
        return columns.payment_link(event.payment_id, exists=event.payment_exists)
