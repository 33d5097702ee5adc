"""Where staff see the ledger, say what is owed back, and note what was sent back."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Count, DateTimeField, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.urls import path
from django.urls.resolvers import URLPattern
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from accounts.authentication import staff
from config.api import ids
from config.api.refusal import Refusal
from config.confirming import ask
from config.long_tables import LongPaginator
from payments import ledger, refunds, sheets
from payments.admin.events import EventInline
from payments.admin.reading import ForReading
from payments.admin.refunds import RefundInline
from payments.models import Payment, PaymentEvent, shortened
from payments.models.ledger import PREFIX

HASH = re.compile(r"0x[0-9a-f]{64}")
State = Payment.State


class Owed(admin.SimpleListFilter):
    """Keeps what is owed back: what is to be sent now, and what may still buy something."""

    title = "owed back"
    parameter_name = "owed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """When it is to be sent."""
        return [("now", "To be sent back now"), ("later", "May still be spent")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Only these; by an index of what is owed."""
        if self.value() is None:
            return queryset
        now, owed = timezone.now(), Payment.objects.all()
        kept = owed.to_be_sent_back(now=now) if self.value() == "now" else owed.spendable(now=now)
        return queryset.filter(pk__in=kept.values("pk"))


class OwedForm(forms.Form):
    """Why money is owed back."""

    reason = forms.ChoiceField(choices=[("", "Choose…"), *Payment.OwedFor.choices])
    words = forms.CharField(
        label="In words that the payer reads",
        required=False,
        max_length=400,
        widget=forms.TextInput(attrs={"style": "width: 40em; max-width: 90%"}),
    )


class SentBackForm(forms.Form):
    """The transaction in which money was sent back."""

    refund_tx_hash = forms.CharField(
        label="Transaction",
        max_length=66,
        widget=forms.TextInput(
            attrs={
                "style": "width: 40em; max-width: 90%",
                "placeholder": "0x and 64 hexadecimal digits",
                "autocomplete": "off",
            }
        ),
    )

    def clean_refund_tx_hash(self) -> str:
        """In small letters."""
        tx_hash: str = self.cleaned_data["refund_tx_hash"].strip().lower()
        if not HASH.fullmatch(tx_hash):
            raise forms.ValidationError("Name the transaction: 0x and 64 hexadecimal digits.")
        return tx_hash


@admin.register(Payment)
class PaymentAdmin(ForReading):
    """The ledger. Money that is owed back is sent by hand, elsewhere, and noted here.

    What has bought nothing may still buy something for a quarter of an hour: only then is it to be sent back.
    """

    change_list_template = "payments/ledger.html"
    list_display = ["created_at", "state", "owed", "amount_usdc", "wallet", "products", "transaction", "form"]
    list_filter = [Owed, "state", "form"]
    sortable_by = ()
    paginator = LongPaginator
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
        named = ids.decode(PREFIX, search_term.strip().lower())
        if named is not None:
            return queryset.filter(pk=named), False
        return super().get_search_results(request, queryset, search_term)

    def get_urls(self) -> list[URLPattern]:
        """With what is owed, as a table for the treasury."""
        owed = path("owed.csv", self.admin_site.admin_view(self.owed_csv), name="payments_payment_owed")
        return [owed, *super().get_urls()]

    def owed_csv(self, request: HttpRequest) -> HttpResponse | StreamingHttpResponse:
        """What is to be sent back now, the oldest first: whom, how much, and for which payment."""
        if not self.has_view_permission(request):
            return HttpResponse(status=403)
        owed = Payment.objects.to_be_sent_back(now=timezone.now()).order_by("settled_at", "pk")
        named = ((row.payer, f"{row.amount_usdc:f}", row.public_id) for row in owed.iterator(chunk_size=1000))
        table = sheets.lines([("payer", "amount_usdc", "payment"), *named])
        headers = {"Content-Disposition": 'attachment; filename="owed.csv"', "Cache-Control": "no-store"}
        return HttpResponse("".join(table), content_type="text/csv; charset=utf-8", headers=headers)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list; above it what is to be sent back in all."""
        owed = Payment.objects.to_be_sent_back(now=timezone.now())
        sums = owed.aggregate(
            payments=Count("pk"), payers=Count("payer", distinct=True), usdc=Sum("amount_usdc", default=0)
        )
        return super().changelist_view(request, {"owed": sums, **(extra_context or {})})

    def get_fields(self, request: HttpRequest, obj: Payment | None = None) -> list[Any]:
        """First what it is called outside."""
        return ["public_id", *(field.name for field in self.opts.concrete_fields)]

    def get_readonly_fields(self, request: HttpRequest, obj: Payment | None = None) -> list[str]:
        """All of them."""
        return ["public_id", *super().get_readonly_fields(request, obj)]

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], **options: Any) -> HttpResponse:  # type: ignore[override]
        """Without buttons that would save nothing."""
        buttons = {"show_save": False, "show_save_and_continue": False, "show_close": True}
        return super().render_change_form(request, {**context, **buttons}, **options)

    @admin.display(description="Owed", empty_value="")
    def owed(self, payment: Any) -> str | None:
        """For how long, and whether it is time to send it back; empty where nothing is owed."""
        if payment.state != State.REFUND_DUE:
            return None
        age = timesince(payment.owed_since or payment.settled_at, depth=1)
        return f"{age}: send it back" if payment.is_to_be_sent_back(timezone.now()) else f"{age}: may still be spent"

    @admin.display(description="Payer")
    def wallet(self, payment: Payment) -> SafeString:
        """The payer's address in short; whole where the pointer rests."""
        return format_html('<span title="{}">{}</span>', payment.payer, shortened(payment.payer))

    @admin.display(description="Transaction", empty_value="")
    def transaction(self, payment: Payment) -> SafeString | None:
        """Its hash in short; whole where the pointer rests."""
        if not payment.tx_hash:
            return None
        return format_html('<span title="{}">{}</span>', payment.tx_hash, shortened(payment.tx_hash))

    @admin.action(description="Owe this back: give a reason", permissions=["change"])
    def owe_back(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for the reason, then owe it; what was not taken stays as it is."""
        form = OwedForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            taken = queryset.filter(state__in=[State.SETTLED, State.DELIVERED])
            return self.ask_of(request, taken, form, "payments/confirm_owe_back.html", "Owe this back?", "owe_back")
        reason, words = Payment.OwedFor(form.cleaned_data["reason"]), form.cleaned_data["words"].strip()
        chosen = list(queryset.values_list("pk", flat=True))
        owed = sum(ledger.owe_back(payment, reason=reason, words=words, by=staff(request)) for payment in chosen)
        self.message_user(request, f"{owed} owed back.", messages.SUCCESS if owed else messages.ERROR)
        if owed < len(chosen):
            said = f"{len(chosen) - owed} left as they are: nothing was taken, or it is owed or sent back already."
            self.message_user(request, said, messages.WARNING)
        return None

    @admin.action(description="Note as sent back: name the transaction", permissions=["change"])
    def mark_refunded(self, request: HttpRequest, queryset: QuerySet[Payment]) -> HttpResponse | None:
        """Ask for the transaction, then note it for each; what the chain does not bear out stays owed."""
        form = SentBackForm(request.POST if "confirmed" in request.POST else None)
        if not form.is_valid():
            owed = queryset.to_be_sent_back(now=timezone.now())  # type: ignore[attr-defined]
            template = "payments/confirm_sent_back.html"
            return self.ask_of(request, owed, form, template, "Note as sent back?", "mark_refunded")
        keys = list(queryset.values_list("pk", flat=True))
        tx_hash = form.cleaned_data["refund_tx_hash"]
        try:
            noted = refunds.note(keys, tx_hash=tx_hash, by=staff(request), now=timezone.now())
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
                name = ids.encode(PREFIX, each.payment)
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
    ) -> HttpResponse:
        """The page that asks for what an action needs, with the payments that it would be done to."""
        sums = chosen.aggregate(count=Count("pk"), usdc=Sum("amount_usdc", default=0))
        by_payer = chosen.order_by().values("payer").annotate(payments=Count("pk"), usdc=Sum("amount_usdc"))
        told = {"form": form, "by_payer": by_payer.order_by("payer")[:20], **sums}
        return ask(self, request, template, title=title, action=action, **told)
