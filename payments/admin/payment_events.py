"""Where staff see every move of every payment, also of those that were let go."""

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
    """A state in its words; where there is none the word that stands instead."""
    return STATES.get(name, name).partition(":")[0] or instead


class WhatHappened:
    """The columns of an event, in its payment's page and in the list of all."""

    @admin.display(description="Before")
    def was(self, event: PaymentEvent) -> str:
        """Empty where a line was entered."""
        return state_of(event.before, instead="-")

    @admin.display(description="After")
    def became(self, event: PaymentEvent) -> str:
        """A line that is gone was let go: nothing was sent."""
        return state_of(event.after, instead="Let go")

    @admin.display(description="Transaction", empty_value="")
    def transaction(self, event: PaymentEvent) -> SafeString | None:
        """Its hash in short; whole where the pointer rests."""
        return in_short(event.tx_hash) if event.tx_hash else None


class EventInline(WhatHappened, ReadOnlyInline):
    """What became of a payment, the oldest first. The database writes this, and it never changes."""

    model = PaymentEvent
    verbose_name_plural = "What became of it"
    ordering = ["pk"]
    fields = ["at", "was", "became", "attempt", "amount_usdc", "transaction", "error", "actor"]
    readonly_fields = ["was", "became", "transaction"]


class Ends(admin.SimpleListFilter):
    """Keeps what staff ask for when a payer says that they have paid."""

    title = "what became of it"
    parameter_name = "became"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The moves that are looked for."""
        return [("let_go", "Let go"), ("expired", "Expired"), ("refund_due", "Owed back"), ("refunded", "Sent back")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Only these moves."""
        value = self.value()
        return queryset if value is None else queryset.filter(after="" if value == "let_go" else value)


@admin.register(PaymentEvent)
class PaymentEventAdmin(WhatHappened, AddressSearchAdmin):
    """Moves of all payments. Of one that was let go because nothing was sent, these are all that is left."""

    nothing_yet = "The database writes a line here whenever a payment is entered, moves on or is let go."
    list_display = ["moved", "amount", "wallet", "why", "by_whom", "moment", "transaction", "payment_link"]
    list_filter = [Ends]
    search_fields = ["payer__exact"]
    search_help_text = "The payer's address, a payment's id (pay_...), or a transaction's hash; whole"
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
        """With whether the payment is still there."""
        there = Exists(Payment.objects.filter(pk=OuterRef("payment_id")))
        events: QuerySet[PaymentEvent] = super().get_queryset(request)
        return events.annotate(is_there=there)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[PaymentEvent], search_term: str
    ) -> tuple[QuerySet[PaymentEvent], bool]:
        """By what names a payment; each of these is found by an index."""
        term = search_term.strip().lower()
        named = public_ids.decode(PREFIX, term)
        if named is not None:
            return queryset.filter(payment_id=named), False
        if len(term) == 66:
            theirs = Payment.objects.filter(Q(tx_hash=term) | Q(refund__tx_hash=term))
            return queryset.filter(payment_id__in=list(theirs.values_list("pk", flat=True)[:100])), False
        return super().get_search_results(request, queryset, term)

    @admin.display(description="Became")
    def moved(self, event: PaymentEvent) -> str:
        """The state, and the one before it where there was one."""
        return f"{self.became(event)}, was {self.was(event)}" if event.before else self.became(event)

    @admin.display(description="USDC")
    def amount(self, event: PaymentEvent) -> str:
        """As people write it."""
        return told(event.amount_usdc)

    @admin.display(description="Error")
    def why(self, event: PaymentEvent) -> str:
        """In words, which a narrow column breaks into lines."""
        return in_words(event.error)

    @admin.display(description="Actor")
    def by_whom(self, event: PaymentEvent) -> SafeString:
        """Who moved it; at the signs in it a narrow column breaks into lines."""
        return breakable(event.actor)

    @admin.display(description="At")
    def moment(self, event: PaymentEvent) -> str:
        """In UTC."""
        return moment_told(event.at)

    @admin.display(description="Payment")
    def payment_link(self, event: Any) -> SafeString | str:
        """Its id, which leads to it where it is still there."""
        name = id_in_short(public_ids.encode(PREFIX, event.payment_id))
        if not event.is_there:
            return name
        return format_html(
            '<a href="{}">{}</a>', reverse("admin:payments_payment_change", args=[event.payment_id]), name
        )

    @admin.display(description="Payer")
    def wallet(self, event: PaymentEvent) -> SafeString:
        """The payer's address in short; whole where the pointer rests."""
        return in_short(event.payer)
