"""Where staff set prices, and see wallets and the ledger."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.helpers import ActionForm
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.forms import BaseModelFormSet
from django.http import HttpRequest
from django.utils import timezone

from config.api import ids
from payments import ledger
from payments.models import Payment, Price, Product, Wallet, WalletSession
from payments.wire.receipts import PREFIX

HASH = re.compile(r"0x[0-9a-f]{64}")


class PriceInline(admin.TabularInline[Price, Product]):
    """Every price that was and is. To change one is to add another, which holds from then on."""

    model = Price
    extra = 0
    fields = ["rate", "amount_usdc", "valid_from"]
    readonly_fields = ["valid_from"]
    ordering = ["rate", "-valid_from", "-pk"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was once asked for stays explainable."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was once asked for stays explainable."""
        return False


@admin.register(Product)
class ProductAdmin(admin.ModelAdmin[Product]):
    """What is sold, from which tier on and for how much."""

    list_display = ["name", "slug", "from_tier", "standard", "discounted", "best", "committed"]
    fields = ["slug", "name", "description", "from_tier"]
    ordering = ["slug"]
    inlines = [PriceInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Product]:
        """With the prices of this moment."""
        valid = Price.objects.filter(product=OuterRef("pk"), valid_from__lte=timezone.now())
        newest = valid.order_by("-valid_from", "-pk").values("amount_usdc")
        current = {f"{rate}_price": Subquery(newest.filter(rate=rate)[:1]) for rate in Price.Rate.values}
        return super().get_queryset(request).annotate(**current)

    @admin.display(description="Standard, USDC")
    def standard(self, product: Any) -> Any:
        """What Free pays."""
        return product.standard_price

    @admin.display(description="Discounted, USDC")
    def discounted(self, product: Any) -> Any:
        """What Pro pays."""
        return product.discounted_price

    @admin.display(description="Best, USDC")
    def best(self, product: Any) -> Any:
        """What Premium pays."""
        return product.best_price

    @admin.display(description="Committed, USDC")
    def committed(self, product: Any) -> Any:
        """What Enterprise pays."""
        return product.committed_price

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> list[str]:
        """Payments and requests know a product by its slug."""
        return ["slug"] if obj else []

    def has_delete_permission(self, request: HttpRequest, obj: Product | None = None) -> bool:
        """Its prices are history."""
        return False

    def save_formset(self, request: HttpRequest, form: Any, formset: BaseModelFormSet[Any, Any], change: bool) -> None:
        """A new price holds from now on."""
        for price in formset.save(commit=False):
            price.valid_from = timezone.now()
            price.save()


class ForReading(admin.ModelAdmin[Any]):
    """Rows that the product writes: staff look them up, and act on them by actions only."""

    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        """The product writes these."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """They are history."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """All of them."""
        return [field.name for field in self.opts.concrete_fields]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Addresses and hashes are kept in small letters."""
        return super().get_search_results(request, queryset, search_term.lower())


@admin.register(Wallet)
class WalletAdmin(ForReading):
    """Addresses that have proven themselves or paid, and what was last read of their holdings."""

    list_display = ["address", "account", "tier", "holdings_usd", "staked", "read_at"]
    list_select_related = ["account"]
    list_filter = ["tier"]
    search_fields = ["address__exact"]
    search_help_text = "The whole address"
    ordering = [F("read_at").desc(nulls_last=True), "address"]
    autocomplete_fields = ["account"]

    def get_readonly_fields(self, request: HttpRequest, obj: Wallet | None = None) -> list[str]:
        """Only whose it is may be said by hand."""
        return [name for name in super().get_readonly_fields(request, obj) if name != "account"]


@admin.register(WalletSession)
class WalletSessionAdmin(ForReading):
    """Wallets that have signed in, without their tokens."""

    list_display = ["wallet", "created_at", "expires_at", "revoked_at"]
    search_fields = ["wallet__exact"]
    search_help_text = "The whole address of the wallet"
    ordering = ["-pk"]
    fields = ["wallet", "created_at", "expires_at", "revoked_at"]
    actions = ["revoke"]

    @admin.action(description="Revoke the selected sessions, at once and for good", permissions=["change"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[WalletSession]) -> None:
        """Revoke; sessions that were revoked before keep their moment."""
        revoked = queryset.filter(revoked_at=None).update(revoked_at=timezone.now())
        self.message_user(request, f"{revoked} revoked.", messages.SUCCESS)


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
        refunded = sum(ledger.refund(row.pk, tx_hash=tx_hash, now=now) for row in queryset)
        self.message_user(request, f"{refunded} marked as refunded.", messages.SUCCESS if refunded else messages.ERROR)
        early = queryset.filter(state=Payment.State.REFUND_DUE).count()
        if early:
            self.message_user(request, f"{early} may still be spent: see the column Send back.", messages.ERROR)
