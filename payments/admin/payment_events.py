"""Payment events in the back office: every state change of every payment, also of released ones."""

from typing import Any

from django.contrib import admin
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

from framework import public_ids
from framework.admin.read_only import ReadOnlyInline
from payments.admin.formats import AddressSearchAdmin, breakable, id_in_short, in_short, in_words
from payments.models import Payment, PaymentEvent
from payments.models.payments import PREFIX
from payments.pricing.price_changes import moment_told, told

STATES = dict(Payment.State.choices)


def state_of(name: str, *, instead: str) -> str:
    """Return the label of a state, or `instead` if there is no state."""
    return STATES.get(name, name).partition(":")[0] or instead


class EventColumns:
    """The columns of an event, for the page of its payment and for the list."""

    @admin.display(description="Before")
    def was(self, event: PaymentEvent) -> str:
        """The previous state; empty for a new payment."""
        return state_of(event.before, instead="-")

    @admin.display(description="After")
    def became(self, event: PaymentEvent) -> str:
        """The new state; a deleted payment was released because nothing was sent."""
        return state_of(event.after, instead="Released")

    @admin.display(description="Transaction", empty_value="")
    def transaction(self, event: PaymentEvent) -> SafeString | None:
        """The shortened hash, with the full hash as a tooltip."""
        return in_short(event.tx_hash) if event.tx_hash else None


class EventInline(EventColumns, ReadOnlyInline):
    """The history of a payment, oldest first, written by database triggers."""

    model = PaymentEvent
    verbose_name_plural = "State changes"
    ordering = ["pk"]
    fields = ["at", "was", "became", "attempt", "amount_usdc", "transaction", "error", "actor"]
    readonly_fields = ["was", "became", "transaction"]


class Ends(admin.SimpleListFilter):
    """Filters by the new state, for payers' enquiries."""

    title = "new state"
    parameter_name = "became"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The states."""
        return [("let_go", "Released"), ("expired", "Expired"), ("refund_due", "Refund due"), ("refunded", "Refunded")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filter by the new state."""
        value = self.value()
        return queryset if value is None else queryset.filter(after="" if value == "let_go" else value)


@admin.register(PaymentEvent)
class PaymentEventAdmin(EventColumns, AddressSearchAdmin):
    """The events of all payments. Of a released payment, for which nothing was sent, only these events remain."""

    empty_hint = "Each new payment and each state change adds a row."
    list_display = ["state_change", "amount", "wallet", "why", "by_whom", "moment", "transaction", "payment_link"]
    list_filter = [Ends]
    search_fields = ["payer__exact"]
    search_help_text = "Complete payer address, payment id (pay_...) or transaction hash"
    ordering = ["-pk"]
    fields = [
        "payment_link",
        "at",
        "was",
        "became",
        "attempt",
        "payer",
        "amount_usdc",
        "tx_hash",
        "error",
        "actor",
    ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[PaymentEvent]:
        """Annotate whether the payment still exists."""
        exists = Exists(Payment.objects.filter(pk=OuterRef("payment_id")))
        events: QuerySet[PaymentEvent] = super().get_queryset(request)
        return events.annotate(payment_exists=exists)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[PaymentEvent], search_term: str
    ) -> tuple[QuerySet[PaymentEvent], bool]:
        """Search by payment id, transaction hash or payer; each has an index."""
        term = search_term.strip().lower()
        named = public_ids.decode(PREFIX, term)
        if named is not None:
            return queryset.filter(payment_id=named), False
        if len(term) == 66:
            theirs = Payment.objects.filter(Q(tx_hash=term) | Q(refund__tx_hash=term))
            return queryset.filter(payment_id__in=list(theirs.values_list("pk", flat=True)[:100])), False
        return super().get_search_results(request, queryset, term)

    @admin.display(description="State")
    def state_change(self, event: PaymentEvent) -> str:
        """The new state, and the previous one if there was one."""
        return f"{self.became(event)}, was {self.was(event)}" if event.before else self.became(event)

    @admin.display(description="USDC")
    def amount(self, event: PaymentEvent) -> str:
        """Without trailing zeros."""
        return told(event.amount_usdc)

    @admin.display(description="Error")
    def why(self, event: PaymentEvent) -> str:
        """The error with spaces, so that a narrow column can wrap it."""
        return in_words(event.error)

    @admin.display(description="Actor")
    def by_whom(self, event: PaymentEvent) -> SafeString:
        """The actor, with line break opportunities."""
        return breakable(event.actor)

    @admin.display(description="At")
    def moment(self, event: PaymentEvent) -> str:
        """In UTC."""
        return moment_told(event.at)

    @admin.display(description="Payment")
    def payment_link(self, event: Any) -> SafeString | str:
        """The payment id, linked if the payment still exists."""
        name = id_in_short(public_ids.encode(PREFIX, event.payment_id))
        if not event.payment_exists:
            return name
        return format_html(
            '<a href="{}">{}</a>', reverse("admin:payments_payment_change", args=[event.payment_id]), name
        )

    @admin.display(description="Payer")
    def wallet(self, event: PaymentEvent) -> SafeString:
        """The shortened payer address, with the full address as a tooltip."""
        return in_short(event.payer)
