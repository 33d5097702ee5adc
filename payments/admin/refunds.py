"""Where staff see what was sent back, and what the chain says of it."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from accounts.api_keys.authentication import staff
from framework.admin.action_confirmation import ask
from framework.admin.read_only import ReadOnlyInline
from payments.admin.formats import AddressSearchAdmin, breakable, id_in_short, in_short
from payments.ledger import transitions
from payments.models import Refund
from payments.pricing.price_changes import moment_told, told


class SeenOnTheChain:
    """What the chain says of a refund, as both lists tell it."""

    @admin.display(description="On the chain")
    def seen(self, refund: Refund) -> SafeString | str:
        """When it was seen, that it was not yet, or in red what the chain shows instead."""
        if refund.error:
            return format_html('<b class="wrong">{}</b>', refund.error)
        return f"Seen {refund.confirmed_at:%Y-%m-%d %H:%M} UTC" if refund.confirmed_at else "Not seen yet"

    @admin.display(description="Sent by", empty_value="-")
    def sent_by(self, refund: Refund) -> SafeString | None:
        """Whose money it was, in short; whole where the pointer rests."""
        return (
            format_html_join(", ", "{}", ((in_short(sender),) for sender in refund.senders))
            if refund.senders
            else None
        )

    @admin.display(description="Transaction")
    def transaction(self, refund: Refund) -> SafeString:
        """Its hash in short; whole where the pointer rests."""
        return in_short(refund.tx_hash)


class RefundInline(SeenOnTheChain, ReadOnlyInline):
    """What was sent back for a payment."""

    model = Refund
    verbose_name = verbose_name_plural = "Sent back"
    fields = ["amount_usdc", "transaction", "sent_by", "by", "created_at", "seen"]
    readonly_fields = ["transaction", "sent_by", "seen"]


class OnTheChain(admin.SimpleListFilter):
    """Keeps what somebody has to look at."""

    title = "the chain"
    parameter_name = "chain"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """What it may say."""
        return [("otherwise", "Shows otherwise"), ("waiting", "Not seen yet"), ("seen", "Seen")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Only these."""
        match self.value():
            case "otherwise":
                return queryset.filter(confirmed_at=None).exclude(error="")
            case "waiting":
                return queryset.filter(confirmed_at=None, error="")
            case "seen":
                return queryset.exclude(confirmed_at=None)
        return queryset


@admin.register(Refund)
class RefundAdmin(SeenOnTheChain, AddressSearchAdmin):
    """What staff have noted as sent back. What the chain does not bear out can be taken back and noted anew."""

    nothing_yet = "What the payments' action “Note as sent back” notes stands here."
    list_display = ["amount", "seen", "wallet", "transaction", "sent_by", "whom", "noted", "payment_link"]
    list_select_related = ["payment"]
    list_filter = [OnTheChain]
    search_fields = ["tx_hash__exact", "payment__payer__exact"]
    search_help_text = "A transaction's hash or the payer's address; whole"
    ordering = ["-pk"]
    actions = ["take_back"]

    @admin.display(description="Payment")
    def payment_link(self, refund: Refund) -> SafeString:
        """Its id, which leads to it."""
        where = reverse("admin:payments_payment_change", args=[refund.payment_id])
        return format_html('<a href="{}">{}</a>', where, id_in_short(refund.payment.public_id))

    @admin.display(description="USDC")
    def amount(self, refund: Refund) -> str:
        """As people write it."""
        return told(refund.amount_usdc)

    @admin.display(description="By")
    def whom(self, refund: Refund) -> SafeString:
        """Who noted it."""
        return breakable(refund.by)

    @admin.display(description="Noted")
    def noted(self, refund: Refund) -> str:
        """When it was noted, in UTC."""
        return moment_told(refund.created_at)

    @admin.display(description="To")
    def wallet(self, refund: Refund) -> SafeString:
        """The payer's address in short; whole where the pointer rests."""
        return in_short(refund.to)

    @admin.action(description="Take the note back: the money is owed again", permissions=["change"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[Refund]) -> HttpResponse | None:
        """Ask, then forget what was noted; what the chain has shown stays."""
        unseen = queryset.filter(confirmed_at=None)
        if "confirmed" not in request.POST:
            told = {"count": unseen.count(), "examples": unseen.select_related("payment")[:20]}
            title = "Take the notes back?"
            return ask(self, request, "payments/confirm_revoke_price.html", title=title, action="take_back", **told)
        chosen = list(queryset.values_list("payment_id", flat=True))
        taken = sum(transitions.withdraw_refund(payment, by=staff(request)) for payment in chosen)
        self.message_user(request, f"{taken} owed again.", messages.SUCCESS if taken else messages.ERROR)
        if taken < len(chosen):
            said = f"{len(chosen) - taken} left as they are: the chain has shown them."
            self.message_user(request, said, messages.WARNING)
        return None
