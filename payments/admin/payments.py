"""Where staff see the ledger, say what is owed back, and note what was sent back."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, DateTimeField, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.urls.resolvers import URLPattern
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from accounts.api_keys.authentication import staff
from framework import public_ids
from framework.admin.action_confirmation import ask
from framework.admin.pending_counts import PendingCount, count_bounded
from framework.errors import Refusal
from payments.admin.formats import AddressSearchAdmin, in_short, in_words
from payments.admin.payment_events import EventInline, state_of
from payments.admin.refunds import RefundInline
from payments.admin.revenue import as_file
from payments.chain.rpc import RpcUnavailable
from payments.ledger import refunds
from payments.models import Payment, PaymentEvent
from payments.models.payments import PREFIX
from payments.pricing.price_changes import moment_told, told

HASH = re.compile(r"0x[0-9a-f]{64}")
State = Payment.State


class Owed(admin.SimpleListFilter):
    """Keeps what is owed back: what is to be sent now, what may still buy something, and what was never seen."""

    title = "owed back"
    parameter_name = "owed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """When it is to be sent."""
        return [
            ("now", "To be sent back now"),
            ("later", "May still be spent"),
            ("unseen", "Not seen on the chain"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Only these; by an index of what is owed."""
        now, owed = timezone.now(), Payment.objects.all()
        match self.value():
            case "now":
                kept = owed.refundable(now=now)
            case "later":
                kept = owed.spendable(now=now)
            case "unseen":
                kept = owed.refund_due_unconfirmed()
            case _:
                return queryset
        return queryset.filter(pk__in=kept.values("pk"))


class OwedForm(forms.Form):
    """Why money is owed back."""

    reason = forms.ChoiceField(choices=[("", "Choose…"), *Payment.RefundReason.choices])
    words = forms.CharField(
        label="In words that the payer reads",
        required=False,
        max_length=400,
        widget=forms.TextInput(attrs={"class": "wide-words"}),
    )


class SentBackForm(forms.Form):
    """The transaction in which money was sent back."""

    refund_tx_hash = forms.CharField(
        label="Transaction",
        max_length=66,
        widget=forms.TextInput(
            attrs={
                "class": "wide-words",
                "placeholder": "0x and 64 hexadecimal digits",
                "autocomplete": "off",
            }
        ),
    )
    # The transaction of which staff have been shown whose money it has sent to whom.
    looked_at = forms.CharField(required=False, max_length=66, widget=forms.HiddenInput)

    def clean_refund_tx_hash(self) -> str:
        """In small letters."""
        tx_hash: str = self.cleaned_data["refund_tx_hash"].strip().lower()
        if not HASH.fullmatch(tx_hash):
            raise forms.ValidationError("Name the transaction: 0x and 64 hexadecimal digits.")
        return tx_hash


def seen_of(tx_hash: str, owed: QuerySet[Payment]) -> dict[str, Any]:
    """What the chain shows of a transaction that is said to have sent these back: to whom, how much, and whose."""
    try:
        sent = refunds.read_transfer(tx_hash)
    except (refunds.RefundNotOnChain, RpcUnavailable) as refusal:
        return {"looked_at": tx_hash, "trouble": refusal.message}
    if sent is None:
        return {"looked_at": tx_hash, "trouble": "The chain does not know this transaction yet."}
    payers = owed.order_by("payer").values_list("payer", flat=True).distinct()[:20]
    moved = [(payer, sent.by_receiver.get(payer, 0), sent.senders.get(payer, [])) for payer in payers]
    return {"looked_at": tx_hash, "moved": moved}


@admin.register(Payment)
class PaymentAdmin(AddressSearchAdmin):
    """The ledger. Money that is owed back is sent by hand, elsewhere, and noted here.

    What has bought nothing may still buy something for a quarter of an hour: only then is it to be sent back.
    """

    change_list_template = "payments/ledger.html"
    list_display = ["amount", "standing", "wallet", "owed", "asked", "sold", "channel", "transaction"]
    nothing_yet = "Requests that are paid for leave a line each."
    list_filter = [Owed, "state", "form", "channel"]
    search_fields = ["tx_hash__exact", "payer__exact"]
    search_help_text = "A payment's id (pay_...), a transaction's hash, or the payer's address; whole"
    ordering = ["-pk"]
    inlines = [RefundInline, EventInline]
    actions = ["owe_back", "mark_refunded"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Payment]:
        """With the moment since which it is owed."""
        owed = PaymentEvent.objects.filter(payment=OuterRef("pk"), after=State.REFUND_DUE).order_by("-pk")
        since = Subquery(owed.values("at")[:1], output_field=DateTimeField())
        payments: QuerySet[Payment] = super().get_queryset(request)
        return payments.annotate(owed_since=since)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Payment], search_term: str
    ) -> tuple[QuerySet[Payment], bool]:
        """Refusals and receipts name a payment by its public id."""
        named = public_ids.decode(PREFIX, search_term.strip().lower())
        if named is not None:
            return queryset.filter(pk=named), False
        return super().get_search_results(request, queryset, search_term)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Payments to be sent back now."""
        address = f"{reverse('admin:payments_payment_changelist')}?owed=now"
        number = count_bounded(Payment.objects.refundable(now=timezone.now()))
        return [PendingCount("refunds due", number, address, is_bad=True)]

    def get_urls(self) -> list[URLPattern]:
        """With what is owed, as a table for the treasury."""
        owed = path("owed.csv", self.admin_site.admin_view(self.owed_csv), name="payments_payment_owed")
        return [owed, *super().get_urls()]

    def owed_csv(self, request: HttpRequest) -> HttpResponse:
        """What is to be sent back now, the oldest first: whom, how much, and for which payment."""
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        owed = Payment.objects.refundable(now=timezone.now()).order_by("settled_at", "pk")
        named = ((row.payer, f"{row.amount_usdc:f}", row.public_id) for row in owed.iterator(chunk_size=1000))
        return as_file([("payer", "amount_usdc", "payment"), *named], "owed.csv")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list; above it what is to be sent back in all."""
        owed = Payment.objects.refundable(now=timezone.now())
        sums = owed.aggregate(
            payments=Count("pk"), payers=Count("payer", distinct=True), usdc=Sum("amount_usdc", default=0)
        )
        return super().changelist_view(request, {"owed": sums, **(extra_context or {})})

    def get_fields(self, request: HttpRequest, obj: Payment | None = None) -> list[Any]:
        """First what it is called outside."""
        return ["public_id", *(field.name for field in self.opts.concrete_fields)]

    @admin.display(description="USDC")
    def amount(self, payment: Payment) -> str:
        """As people write it."""
        return told(payment.amount_usdc)

    @admin.display(description="State")
    def standing(self, payment: Payment) -> str:
        """In few words."""
        return state_of(payment.state, instead="-")

    @admin.display(description="Asked for")
    def asked(self, payment: Payment) -> str:
        """When it was claimed first, in UTC."""
        return moment_told(payment.created_at)

    @admin.display(description="Products")
    def sold(self, payment: Payment) -> str:
        """Their names."""
        return ", ".join(payment.products)

    @admin.display(description="Owed", empty_value="")
    def owed(self, payment: Any) -> str | None:
        """For how long and why, and whether it is time to send it back; empty where nothing is owed."""
        if payment.state != State.REFUND_DUE:
            return None
        age = timesince(payment.owed_since or payment.settled_at, depth=1)
        reason = in_words(payment.error.partition(": ")[0])
        if payment.block is None:
            todo = "not seen on the chain"
        else:
            todo = "send it back" if payment.is_refundable(timezone.now()) else "may still be spent"
        return f"{age}, {reason}: {todo}"

    @admin.display(description="Payer")
    def wallet(self, payment: Payment) -> SafeString:
        """The payer's address in short; whole where the pointer rests."""
        return in_short(payment.payer)

    @admin.display(description="Transaction", empty_value="")
    def transaction(self, payment: Payment) -> SafeString | None:
        """Its hash in short; whole where the pointer rests."""
        return in_short(payment.tx_hash) if payment.tx_hash else None

    @admin.action(description="Owe this back: give a reason", permissions=["change"])
    def owe_back(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for the reason, then owe it; what was not taken stays as it is."""
        form = OwedForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            taken = queryset.filter(state__in=Payment.EARNED)
            if not taken.exists():
                said = "Nothing to owe back: of these nothing was taken, or it is owed or sent back already."
                self.message_user(request, said, messages.ERROR)
                return None
            return self.ask_of(
                request, taken, form, "payments/confirm_mark_refund_due.html", "Owe this back?", "owe_back"
            )
        reason, words = Payment.RefundReason(form.cleaned_data["reason"]), form.cleaned_data["words"].strip()
        chosen = list(queryset.values_list("pk", flat=True))
        owed, refused = 0, []
        for payment in chosen:
            try:
                owed += refunds.mark_refund_due(
                    payment, reason=reason, words=words, by=staff(request), now=timezone.now()
                )
            except refunds.PaymentNotOnChain as refusal:
                refused.append(f"{public_ids.encode(PREFIX, payment)} stays as it is. {refusal.message}")
        self.message_user(request, f"{owed} owed back.", messages.SUCCESS if owed else messages.ERROR)
        if left := len(chosen) - owed - len(refused):
            said = f"{left} left as they are: nothing was taken, or it is owed or sent back already."
            self.message_user(request, said, messages.WARNING)
        for said in refused:
            self.message_user(request, said, messages.ERROR)
        return None

    @admin.action(description="Note as sent back: name the transaction", permissions=["change"])
    def mark_refunded(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for the transaction, show what it has sent, then note it for each; what the chain denies stays owed."""
        form = SentBackForm(request.POST if "confirmed" in request.POST else None)
        is_named = form.is_valid()
        tx_hash = form.cleaned_data["refund_tx_hash"] if is_named else ""
        if not is_named or form.cleaned_data["looked_at"] != tx_hash:
            owed = queryset.refundable(now=timezone.now())  # type: ignore[attr-defined]
            if not owed.exists():
                self.message_user(request, "Nothing to note: none of these is to be sent back now.", messages.ERROR)
                return None
            told = seen_of(tx_hash, owed) if is_named else {}
            if is_named:
                form = SentBackForm(initial={"refund_tx_hash": tx_hash, "looked_at": tx_hash})
            template = "payments/confirm_refund_sent.html"
            return self.ask_of(request, owed, form, template, "Note as sent back?", "mark_refunded", **told)
        keys = list(queryset.values_list("pk", flat=True))
        try:
            noted = refunds.record(keys, tx_hash=tx_hash, by=staff(request), now=timezone.now())
        except Refusal as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return None
        seen = sum(each.is_confirmed for each in noted)
        waiting = sum(each.refusal is None for each in noted) - seen
        if seen:
            self.message_user(request, f"{seen} noted as sent back: the chain shows it.", messages.SUCCESS)
        if waiting:
            said = f"{waiting} noted as sent back; the chain is asked again until it shows it."
            self.message_user(request, said, messages.WARNING)
        for each in noted:
            if each.refusal:
                name = public_ids.encode(PREFIX, each.payment)
                self.message_user(request, f"{name} is not noted. {each.refusal}", messages.ERROR)
        return None

    def ask_of(
        self,
        request: HttpRequest,
        chosen: QuerySet[Payment],
        form: forms.Form,
        template: str,
        title: str,
        action: str,
        **more: Any,
    ) -> HttpResponse:
        """The page that asks for what an action needs, with the payments that it would be done to."""
        sums = chosen.aggregate(count=Count("pk"), usdc=Sum("amount_usdc", default=0))
        by_payer = chosen.order_by().values("payer").annotate(payments=Count("pk"), usdc=Sum("amount_usdc"))
        told = {"form": form, "by_payer": by_payer.order_by("payer")[:20], **sums, **more}
        return ask(self, request, template, title=title, action=action, **told)
