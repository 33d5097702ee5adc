"""The admin of payments: search, mark for refund, and record refunds."""

import re
from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Count, DateTimeField, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.urls.resolvers import URLPattern
from django.utils import timezone
from django.utils.timesince import timesince

from accounts.admin.assignments import ASSIGNMENT_ACTIONS, AssignableAdmin, AssigneeFilter
from accounts.api_keys.authentication import get_staff_actor
from framework import public_ids
from framework.admin.action_confirmation import confirmed_action, render_confirmation
from framework.admin.list_filters import option_filter
from framework.admin.pending_counts import PendingCount
from framework.csv_export import csv_response
from framework.errors import ApiError
from payments.admin import columns
from payments.admin.columns import AddressSearchAdmin
from payments.admin.payment_events import EventInline, state_badge
from payments.admin.refunds import RefundInline
from payments.chain.rpc import RpcUnavailable
from payments.formatting import format_time
from payments.ledger import refunds, transitions
from payments.models import Payment, PaymentEvent
from payments.models.payments import PREFIX, WRITTEN_OFF_REASON

HASH = re.compile(r"0x[0-9a-f]{64}")
State = Payment.State


# Each is a subquery of its own, so that the partial index of refunds due is used.
REFUND_DUE_FILTERS = {
    "due": ("Due now", lambda rows: rows.filter(pk__in=due_refunds().values("pk"))),
    "asked": (
        "Asked for by the payer",
        lambda rows: rows.filter(pk__in=Payment.objects.with_open_request().values("pk")),
    ),
    "small": (
        "Below the minimum",
        lambda rows: rows.filter(pk__in=Payment.objects.too_small_to_refund(now=timezone.now()).values("pk")),
    ),
    "written_off": ("Written off", lambda rows: rows.filter(pk__in=Payment.objects.written_off().values("pk"))),
    "spendable": (
        "May still be used",
        lambda rows: rows.filter(pk__in=Payment.objects.spendable(now=timezone.now()).values("pk")),
    ),
    "unseen": (
        "Not seen on the chain",
        lambda rows: rows.filter(pk__in=Payment.objects.refund_due_unconfirmed().values("pk")),
    ),
}


# What payers ask about; the other columns of a payment are below.
SHOWN_FIRST = [
    *("state_label", "amount", "refund_due", "products", "public_id", "payer", "tx_hash", "channel", "resource"),
    *("created_at", "settled_at", "delivered_at", "error"),
    *("refund_requested_at", "refund_request", "refund_declined_at"),
]


def due_refunds() -> QuerySet[Payment]:
    return Payment.objects.in_refund_queue(now=timezone.now())


class RefundReasonForm(forms.Form):
    reason = forms.ChoiceField(choices=[("", "Select…"), *Payment.RefundReason.choices])
    message = forms.CharField(
        label="Message to the payer",
        required=False,
        max_length=400,
        widget=forms.TextInput(attrs={"class": "wide-words"}),
    )


class RefundForm(forms.Form):
    refund_tx_hash = forms.CharField(
        label="Transaction",
        max_length=66,
        widget=forms.TextInput(
            attrs={"class": "wide-words", "placeholder": "0x and 64 hexadecimal digits", "autocomplete": "off"}
        ),
    )
    # The transaction whose transfers were shown to the user.
    checked_tx_hash = forms.CharField(required=False, max_length=66, widget=forms.HiddenInput)

    def clean_refund_tx_hash(self) -> str:
        tx_hash: str = self.cleaned_data["refund_tx_hash"].strip().lower()
        if not HASH.fullmatch(tx_hash):
            raise forms.ValidationError("Enter a transaction hash: 0x and 64 hexadecimal digits.")
        return tx_hash


def transfers_context(tx_hash: str, payments: QuerySet[Payment]) -> dict[str, Any]:
    """Return the template context of a refund transaction: the receivers, amounts and senders on the chain."""
    try:
        sent = refunds.read_transfer(tx_hash)
    except (refunds.RefundNotOnChain, RpcUnavailable) as refusal:
        return {"checked_tx_hash": tx_hash, "error": refusal.message}
    if sent is None:
        return {"checked_tx_hash": tx_hash, "error": "This transaction is not on the chain yet."}
    payers = payments.order_by("payer").values_list("payer", flat=True).distinct()[:20]
    moved = [(payer, sent.amount_to(payer), sent.senders_to(payer)) for payer in payers]
    return {"checked_tx_hash": tx_hash, "moved": moved}


@admin.register(Payment)
class PaymentAdmin(AssignableAdmin, AddressSearchAdmin):
    """The payments. Refunds are sent manually outside the application, and recorded here.

    An unused payment can still be used for 15 minutes; only after that its refund is due.
    """

    change_list_template = "payments/ledger.html"
    list_display = [
        *("amount", "state_label", "wallet", "refund_due", "requested", "product_names", "channel", "transaction"),
        "assignee",
    ]
    empty_hint = (
        "Each paid request adds a row: its amount in USDC, the wallet that paid, what it bought, and whether a refund"
        " is due."
    )
    list_filter = [
        option_filter("refund due", "refund", REFUND_DUE_FILTERS),
        AssigneeFilter,
        "state",
        "form",
        "channel",
    ]
    search_fields = ["tx_hash__exact", "payer__exact"]
    is_in_site_search = True
    search_help_text = "Payment id, hash or payer"
    ordering = ["-pk"]
    inlines = [RefundInline, EventInline]
    actions = ["mark_refund_due", "decline_refund", "record_refund", "write_off", *ASSIGNMENT_ACTIONS]
    amount = columns.column("amount_usdc", "Amount", columns.usdc)
    state_label = columns.column("state", "State", state_badge)
    product_names = columns.column("products", "Products", ", ".join)
    requested = columns.column("created_at", "Requested", format_time)
    wallet = columns.column("payer", "Payer", columns.short_with_title)
    transaction = columns.column("tx_hash", "Transaction", columns.short_with_title)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Payment]:
        marked = PaymentEvent.objects.filter(payment=OuterRef("pk"), after=State.REFUND_DUE).order_by("-pk")
        since = Subquery(marked.values("at")[:1], output_field=DateTimeField())
        payments: QuerySet[Payment] = super().get_queryset(request)
        return payments.annotate(refund_due_since=since)

    def pending_counts(self, request: HttpRequest) -> list[PendingCount]:
        url = f"{reverse('admin:payments_payment_changelist')}?refund=due"
        asked = f"{reverse('admin:payments_payment_changelist')}?refund=asked"
        return [
            self.count_pending(request, "refunds due", due_refunds(), url, waits_since="settled_at", is_bad=True),
            self.count_pending(
                request,
                "refund requests",
                Payment.objects.with_open_request(),
                asked,
                waits_since="refund_requested_at",
            ),
        ]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.refunds_due_csv)
        return [path("refunds_due.csv", view, name="payments_payment_refunds_due"), *super().get_urls()]

    def refunds_due_csv(self, request: HttpRequest) -> HttpResponse:
        """Stream the refunds due now as CSV, oldest first: payer, amount and payment."""
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        payments = due_refunds().order_by("settled_at", "pk").iterator(chunk_size=1000)
        rows = ((payment.payer, f"{payment.amount_usdc:f}", payment.public_id) for payment in payments)
        return csv_response([("payer", "amount_usdc", "payment"), *rows], "refunds_due.csv")

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        sums = due_refunds().aggregate(
            payments=Count("pk"), payers=Count("payer", distinct=True), usdc=Sum("amount_usdc", default=0)
        )
        # By the index of payments that arrived.
        arrived = Payment.objects.filter(state__in=Payment.EARNED, settled_at__gte=timezone.now() - timedelta(days=1))
        received = arrived.aggregate(
            payments=Count("pk"), payers=Count("payer", distinct=True), usdc=Sum("amount_usdc", default=0)
        )
        context = {"refunds_due": sums, "received": received, **(extra_context or {})}
        return super().changelist_view(request, context)

    def get_fieldsets(self, request: HttpRequest, obj: Payment | None = None) -> Any:
        rest = [field.name for field in self.opts.concrete_fields if field.name not in SHOWN_FIRST]
        return [
            (None, {"fields": SHOWN_FIRST}),
            ("All columns", {"classes": ["collapse"], "fields": rest}),
        ]

    @admin.display(description="Refund due", empty_value="")
    def refund_due(self, payment: Any) -> str:
        """Age, reason and next step of a refund due; empty otherwise."""
        if payment.state != State.REFUND_DUE:
            is_open = payment.state == State.DELIVERED and payment.refund_requested_at
            return "asked for by the payer" if is_open and payment.refund_declined_at is None else ""
        age = timesince(payment.refund_due_since or payment.settled_at, depth=1)
        reason = payment.error.partition(": ")[0]
        if reason == WRITTEN_OFF_REASON:
            return f"{age}, written off"
        if payment.block is None:
            todo = "not seen on the chain"
        else:
            is_small = payment.amount_usdc < settings.REFUND_MIN_USDC
            todo = "below the minimum" if is_small else "send refund"
            if not payment.is_refundable(timezone.now()):
                todo = "may still be used"
        return f"{age}, {columns.breakable(reason)}: {todo}"

    @admin.action(description="Mark for refund", permissions=["change"])
    def mark_refund_due(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for the reason, then mark the payments for refund; unpaid ones do not change."""
        form = RefundReasonForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            paid = queryset.filter(state__in=Payment.EARNED)
            if not paid.exists():
                text = "Nothing to refund: these payments were not settled, or their refund is already due or sent."
                self.message_user(request, text, messages.ERROR)
                return None
            template = "payments/confirm_mark_refund_due.html"
            return self.confirm(request, paid, form, template, "Mark for refund?", "mark_refund_due")
        reason, message = Payment.RefundReason(form.cleaned_data["reason"]), form.cleaned_data["message"].strip()
        selected = list(queryset.values_list("pk", flat=True))
        marked, errors = 0, []
        for payment in selected:
            try:
                marked += refunds.mark_refund_due(
                    payment, reason=reason, message=message, by=get_staff_actor(request), now=timezone.now()
                )
            except refunds.PaymentNotOnChain as refusal:
                errors.append(f"{public_ids.encode(PREFIX, payment)} was not changed. {refusal.message}")
        unchanged = len(selected) - marked - len(errors)
        why = "not changed: not settled, or the refund is already due or sent."
        columns.report_changes(self, request, marked, "marked for refund.", unchanged=unchanged, reason=why)
        for text in errors:
            self.message_user(request, text, messages.ERROR)
        return None

    @confirmed_action(
        "Decline refund requests",
        message="We keep the money, and the payers read that their requests were declined.",
        confirm_label="Decline",
        applies_to=lambda rows: rows.with_open_request(),
    )
    def decline_refund(self, request: HttpRequest, queryset: QuerySet[Payment]) -> None:
        """Keep the money; the payer reads that the request was declined."""
        selected, now = list(queryset.values_list("pk", flat=True)), timezone.now()
        changed = sum(transitions.decline_refund(payment, now=now) for payment in selected)
        why = "not changed: without an open request."
        columns.report_changes(self, request, changed, "declined.", unchanged=len(selected) - changed, reason=why)

    @admin.action(description="Record refund", permissions=["change"])
    def record_refund(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for the transaction, show its transfers, then record the refunds that the chain confirms."""
        form = RefundForm(request.POST if "confirmed" in request.POST else None)
        is_valid = form.is_valid()
        tx_hash = form.cleaned_data["refund_tx_hash"] if is_valid else ""
        if not is_valid or form.cleaned_data["checked_tx_hash"] != tx_hash:
            due = queryset.refundable(now=timezone.now())  # type: ignore[attr-defined]
            if not due.exists():
                self.message_user(request, "Nothing to record: none of these refunds is due now.", messages.ERROR)
                return None
            context = transfers_context(tx_hash, due) if is_valid else {}
            if is_valid:
                form = RefundForm(initial={"refund_tx_hash": tx_hash, "checked_tx_hash": tx_hash})
            template = "payments/confirm_refund_sent.html"
            return self.confirm(request, due, form, template, "Record refund?", "record_refund", **context)
        keys = list(queryset.values_list("pk", flat=True))
        try:
            results = refunds.record(keys, tx_hash=tx_hash, by=get_staff_actor(request), now=timezone.now())
        except ApiError as refusal:
            self.message_user(request, refusal.message, messages.ERROR)
            return None
        confirmed = sum(each.is_confirmed for each in results)
        waiting = sum(each.refusal is None for each in results) - confirmed
        if confirmed:
            self.message_user(request, f"{confirmed} refunds recorded and confirmed on the chain.", messages.SUCCESS)
        if waiting:
            text = f"{waiting} refunds recorded. They are checked on the chain again later."
            self.message_user(request, text, messages.WARNING)
        for each in results:
            if each.refusal:
                name = public_ids.encode(PREFIX, each.payment)
                self.message_user(request, f"The refund of {name} was not recorded. {each.refusal}", messages.ERROR)
        return None

    @admin.action(description="Write off a refund below the minimum", permissions=["change"])
    def write_off(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for confirmation, then write off the refunds that are below the minimum and due now."""
        if "confirmed" not in request.POST:
            small = queryset.too_small_to_refund(now=timezone.now())  # type: ignore[attr-defined]
            template = "payments/confirm_write_off.html"
            return self.confirm(request, small, forms.Form(), template, "Write off?", "write_off")
        selected = list(queryset.values_list("pk", flat=True))
        by, now = get_staff_actor(request), timezone.now()
        changed = sum(transitions.write_off(payment, by=by, now=now) for payment in selected)
        why = "not changed: no refund below the minimum is due now."
        columns.report_changes(self, request, changed, "written off.", unchanged=len(selected) - changed, reason=why)
        return None

    def confirm(
        self,
        request: HttpRequest,
        payments: QuerySet[Payment],
        form: forms.Form,
        template: str,
        title: str,
        action: str,
        **context: Any,
    ) -> HttpResponse:
        """Render the confirmation page of an action, with its form and the selected payments."""
        sums = payments.aggregate(count=Count("pk"), usdc=Sum("amount_usdc", default=0))
        by_payer = payments.order_by().values("payer").annotate(payments=Count("pk"), usdc=Sum("amount_usdc"))
        context |= {"form": form, "by_payer": by_payer.order_by("payer")[:20], **sums}
        return render_confirmation(self, request, template, title=title, action=action, **context)
