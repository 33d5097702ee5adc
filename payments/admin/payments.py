"""Payments in the back office: search, mark for refund, and record refunds."""

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

from accounts.api_keys.authentication import get_staff_actor
from framework import public_ids
from framework.admin.action_confirmation import render_confirmation
from framework.admin.pending_counts import PendingCount, count_bounded
from framework.errors import ApiError
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


class RefundDueFilter(admin.SimpleListFilter):
    """Filters refunds due: to be sent now, payments that may still be used, and payments not seen on the chain."""

    title = "refund due"
    parameter_name = "owed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The choices."""
        return [
            ("now", "Due now"),
            ("later", "May still be used"),
            ("unseen", "Not seen on the chain"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Filter with the partial index of refunds due."""
        now, payments = timezone.now(), Payment.objects.all()
        match self.value():
            case "now":
                matching = payments.refundable(now=now)
            case "later":
                matching = payments.spendable(now=now)
            case "unseen":
                matching = payments.refund_due_unconfirmed()
            case _:
                return queryset
        return queryset.filter(pk__in=matching.values("pk"))


class RefundReasonForm(forms.Form):
    """The reason of a refund."""

    reason = forms.ChoiceField(choices=[("", "Select…"), *Payment.RefundReason.choices])
    message = forms.CharField(
        label="Message to the payer",
        required=False,
        max_length=400,
        widget=forms.TextInput(attrs={"class": "wide-words"}),
    )


class RefundForm(forms.Form):
    """The transaction of a refund."""

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
    # The transaction whose transfers were shown to the user.
    checked_tx_hash = forms.CharField(required=False, max_length=66, widget=forms.HiddenInput)

    def clean_refund_tx_hash(self) -> str:
        """Convert to lower case and validate."""
        tx_hash: str = self.cleaned_data["refund_tx_hash"].strip().lower()
        if not HASH.fullmatch(tx_hash):
            raise forms.ValidationError("Enter a transaction hash: 0x and 64 hexadecimal digits.")
        return tx_hash


def transfers_of(tx_hash: str, payments: QuerySet[Payment]) -> dict[str, Any]:
    """Return the transfers of a refund transaction on the chain: receivers, amounts and senders."""
    try:
        sent = refunds.read_transfer(tx_hash)
    except (refunds.RefundNotOnChain, RpcUnavailable) as refusal:
        return {"checked_tx_hash": tx_hash, "error": refusal.message}
    if sent is None:
        return {"checked_tx_hash": tx_hash, "error": "This transaction is not on the chain yet."}
    payers = payments.order_by("payer").values_list("payer", flat=True).distinct()[:20]
    moved = [(payer, sent.by_receiver.get(payer, 0), sent.senders.get(payer, [])) for payer in payers]
    return {"checked_tx_hash": tx_hash, "moved": moved}


@admin.register(Payment)
class PaymentAdmin(AddressSearchAdmin):
    """The payments. Refunds are sent manually outside the application, and recorded here.

    An unused payment can still be used for 15 minutes; only after that its refund is due.
    """

    change_list_template = "payments/ledger.html"
    list_display = [
        "amount",
        "state_shown",
        "wallet",
        "refund_due",
        "requested",
        "product_names",
        "channel",
        "transaction",
    ]
    empty_hint = "Each paid request adds a row."
    list_filter = [RefundDueFilter, "state", "form", "channel"]
    search_fields = ["tx_hash__exact", "payer__exact"]
    search_help_text = "Complete payment id (pay_...), transaction hash or payer address"
    ordering = ["-pk"]
    inlines = [RefundInline, EventInline]
    actions = ["owe_back", "mark_refunded"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Payment]:
        """Annotate the time since which the refund is due."""
        owed = PaymentEvent.objects.filter(payment=OuterRef("pk"), after=State.REFUND_DUE).order_by("-pk")
        since = Subquery(owed.values("at")[:1], output_field=DateTimeField())
        payments: QuerySet[Payment] = super().get_queryset(request)
        return payments.annotate(owed_since=since)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Payment], search_term: str
    ) -> tuple[QuerySet[Payment], bool]:
        """Search also by public id, which errors and receipts contain."""
        named = public_ids.decode(PREFIX, search_term.strip().lower())
        if named is not None:
            return queryset.filter(pk=named), False
        return super().get_search_results(request, queryset, search_term)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        """Refunds due now."""
        address = f"{reverse('admin:payments_payment_changelist')}?owed=now"
        number = count_bounded(Payment.objects.refundable(now=timezone.now()))
        return [PendingCount("refunds due", number, address, is_bad=True)]

    def get_urls(self) -> list[URLPattern]:
        """Add the CSV file of the refunds due."""
        owed = path("owed.csv", self.admin_site.admin_view(self.owed_csv), name="payments_payment_owed")
        return [owed, *super().get_urls()]

    def owed_csv(self, request: HttpRequest) -> HttpResponse:
        """Stream the refunds due now as CSV, oldest first: payer, amount and payment."""
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        owed = Payment.objects.refundable(now=timezone.now()).order_by("settled_at", "pk")
        named = ((row.payer, f"{row.amount_usdc:f}", row.public_id) for row in owed.iterator(chunk_size=1000))
        return as_file([("payer", "amount_usdc", "payment"), *named], "owed.csv")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Render the list, with the total of the refunds due."""
        owed = Payment.objects.refundable(now=timezone.now())
        sums = owed.aggregate(
            payments=Count("pk"), payers=Count("payer", distinct=True), usdc=Sum("amount_usdc", default=0)
        )
        return super().changelist_view(request, {"refunds_due": sums, **(extra_context or {})})

    def get_fields(self, request: HttpRequest, obj: Payment | None = None) -> list[Any]:
        """The public id first, then all fields."""
        return ["public_id", *(field.name for field in self.opts.concrete_fields)]

    @admin.display(description="USDC")
    def amount(self, payment: Payment) -> str:
        """Without trailing zeros."""
        return told(payment.amount_usdc)

    @admin.display(description="State")
    def state_shown(self, payment: Payment) -> str:
        """The label of the state."""
        return state_of(payment.state, instead="-")

    @admin.display(description="Requested")
    def requested(self, payment: Payment) -> str:
        """The time of the first claim, in UTC."""
        return moment_told(payment.created_at)

    @admin.display(description="Products")
    def product_names(self, payment: Payment) -> str:
        """The product slugs."""
        return ", ".join(payment.products)

    @admin.display(description="Refund due", empty_value="")
    def refund_due(self, payment: Any) -> str | None:
        """Age, reason and next step of a refund due; empty otherwise."""
        if payment.state != State.REFUND_DUE:
            return None
        age = timesince(payment.owed_since or payment.settled_at, depth=1)
        reason = in_words(payment.error.partition(": ")[0])
        if payment.block is None:
            todo = "not seen on the chain"
        else:
            todo = "send refund" if payment.is_refundable(timezone.now()) else "may still be used"
        return f"{age}, {reason}: {todo}"

    @admin.display(description="Payer")
    def wallet(self, payment: Payment) -> SafeString:
        """The shortened payer address, with the full address as a tooltip."""
        return in_short(payment.payer)

    @admin.display(description="Transaction", empty_value="")
    def transaction(self, payment: Payment) -> SafeString | None:
        """The shortened hash, with the full hash as a tooltip."""
        return in_short(payment.tx_hash) if payment.tx_hash else None

    @admin.action(description="Mark for refund", permissions=["change"])
    def owe_back(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for the reason, then mark the payments for refund; unpaid ones do not change."""
        form = RefundReasonForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            paid = queryset.filter(state__in=Payment.EARNED)
            if not paid.exists():
                text = "Nothing to refund: these payments were not settled, or their refund is already due or sent."
                self.message_user(request, text, messages.ERROR)
                return None
            return self.ask_of(
                request, paid, form, "payments/confirm_mark_refund_due.html", "Mark for refund?", "owe_back"
            )
        reason, message = Payment.RefundReason(form.cleaned_data["reason"]), form.cleaned_data["message"].strip()
        chosen = list(queryset.values_list("pk", flat=True))
        marked, errors = 0, []
        for payment in chosen:
            try:
                marked += refunds.mark_refund_due(
                    payment, reason=reason, message=message, by=get_staff_actor(request), now=timezone.now()
                )
            except refunds.PaymentNotOnChain as refusal:
                errors.append(f"{public_ids.encode(PREFIX, payment)} was not changed. {refusal.message}")
        self.message_user(request, f"{marked} marked for refund.", messages.SUCCESS if marked else messages.ERROR)
        if left := len(chosen) - marked - len(errors):
            text = f"{left} not changed: not settled, or the refund is already due or sent."
            self.message_user(request, text, messages.WARNING)
        for text in errors:
            self.message_user(request, text, messages.ERROR)
        return None

    @admin.action(description="Record refund", permissions=["change"])
    def mark_refunded(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for the transaction, show its transfers, then record the refunds that the chain confirms."""
        form = RefundForm(request.POST if "confirmed" in request.POST else None)
        is_named = form.is_valid()
        tx_hash = form.cleaned_data["refund_tx_hash"] if is_named else ""
        if not is_named or form.cleaned_data["checked_tx_hash"] != tx_hash:
            due = queryset.refundable(now=timezone.now())  # type: ignore[attr-defined]
            if not due.exists():
                self.message_user(request, "Nothing to record: none of these refunds is due now.", messages.ERROR)
                return None
            context = transfers_of(tx_hash, due) if is_named else {}
            if is_named:
                form = RefundForm(initial={"refund_tx_hash": tx_hash, "checked_tx_hash": tx_hash})
            template = "payments/confirm_refund_sent.html"
            return self.ask_of(request, due, form, template, "Record refund?", "mark_refunded", **context)
        keys = list(queryset.values_list("pk", flat=True))
        try:
            noted = refunds.record(keys, tx_hash=tx_hash, by=get_staff_actor(request), now=timezone.now())
        except ApiError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return None
        seen = sum(each.is_confirmed for each in noted)
        waiting = sum(each.refusal is None for each in noted) - seen
        if seen:
            self.message_user(request, f"{seen} refunds recorded and confirmed on the chain.", messages.SUCCESS)
        if waiting:
            text = f"{waiting} refunds recorded. They are checked on the chain again later."
            self.message_user(request, text, messages.WARNING)
        for each in noted:
            if each.refusal:
                name = public_ids.encode(PREFIX, each.payment)
                self.message_user(request, f"The refund of {name} was not recorded. {each.refusal}", messages.ERROR)
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
        """Render the confirmation page of an action, with its form and the selected payments."""
        sums = chosen.aggregate(count=Count("pk"), usdc=Sum("amount_usdc", default=0))
        by_payer = chosen.order_by().values("payer").annotate(payments=Count("pk"), usdc=Sum("amount_usdc"))
        context = {"form": form, "by_payer": by_payer.order_by("payer")[:20], **sums, **more}
        return render_confirmation(self, request, template, title=title, action=action, **context)
