"""The purchase of an export: price, payment, queue.

An order that awaits its payment is created, the payment is settled, and one conditional UPDATE queues the export. One
payment buys one export, however often and by whom it is presented.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catalogue.exports.requests import commands, payment_state, spec
from catalogue.exports.requests.spec import ExportSpec
from catalogue.models import Export
from framework.api.rate_limits.middleware import count_within_an_hour
from framework.errors import ApiError, ErrorCode
from payments.interface import (
    OPEN_STATES,
    STANDARD,
    Authorization,
    Caller,
    PaymentAlreadyUsed,
    PaymentIdentifierReused,
    Proof,
    Purchase,
    Receipt,
    SettlementPending,
    TransactionProof,
    collect_payment,
    find_presented,
    is_free_by_plan,
    is_presented,
    load_price_list,
)
from payments.models import Payment

Status, State = Export.Status, Payment.State
MAX_FREE_PER_HOUR = 20
REFUNDS = (State.REFUND_DUE, State.REFUNDED)


class OtherPaymentPending(ApiError):
    """Another payment for the export is being settled; this one is not used, and stays its payer's."""

    code = ErrorCode.SETTLEMENT_PENDING

    def __init__(self, proof: Proof | None) -> None:
        hint = " GET /v1/exports shows whether it is ordered."
        if proof is None:
            words = "A payment for this export is being settled. This request has charged nothing." + hint
        elif isinstance(proof, TransactionProof):
            words = (
                "Another payment for this export is being settled. This request has not used your transaction:"
                " repeat it. If the other payment buys the export, yours is refunded."
            )
        else:
            words = (
                "Another payment for this export is being settled. This request has charged nothing, and has not used"
                " yours: it would order the export once more after that one has ended."
            ) + hint
        super().__init__(words, headers={"Retry-After": "2", "Cache-Control": "no-store"})


@dataclass(frozen=True, slots=True)
class OrderedExport:
    """An ordered export, with the receipt of the presented payment if it has bought this export."""

    export: Export
    receipt: Receipt | None = None


def order_export(
    caller: Caller,
    wishes: Mapping[str, Any],
    *,
    purchase: Purchase,
    proof: Proof | None,
    receipt_token: str | None,
    now: datetime,
) -> OrderedExport:
    """Return the caller's unfinished export with this specification, or sell and queue a new one; enqueue a step then.

    `wishes` are the arguments of parse_spec; `purchase` is what a challenge describes. Call it outside of
    transactions. Raises InvalidRequest, TierRequired, TooManyExports and, for free datasets, RateLimitExceeded before
    there is a price, then what checkout.collect raises.
    """
    wallet = commands.require_wallet(caller)
    kind = spec.parse_spec(commands.require_wallets(caller), now=now, **wishes)
    product = payment_state.PRODUCTS.get(kind.dataset)
    if product is None:
        # Not by wallet: wallets cost nothing.
        count_within_an_hour("free-exports", caller.origin, limit=MAX_FREE_PER_HOUR, what="free exports")
        return OrderedExport(commands.queue_unpaid(wallet, kind, tier=caller.tier, now=now))
    commands.require_tier(caller, load_price_list([product], now=now).from_tier)
    if is_free_by_plan([product], caller=caller, now=now):
        return OrderedExport(commands.queue_unpaid(wallet, kind, tier=caller.tier, now=now))
    sale = Sale(caller, wallet, kind, product, purchase, proof, receipt_token, now)
    if (ordered := sale.find_bought()) is not None:
        return ordered
    return sale.sell()


@dataclass(frozen=True, slots=True)
class Sale:
    caller: Caller
    wallet: str
    kind: ExportSpec
    product: str
    purchase: Purchase
    proof: Proof | None
    receipt_token: str | None
    now: datetime

    def find_bought(self) -> OrderedExport | None:
        """Return what the presented payment has bought or is buying; None if it has bought nothing yet."""
        row = self.find_ledger_row()
        if row is None:
            return None
        bought = payment_state.find_export(row)
        is_this = (
            bought is not None
            and bought.wallet_id in commands.require_wallets(self.caller)
            and bought.fingerprint == self.kind.fingerprint
        )
        if bought is None or not is_this or is_altered(self.proof, row):
            if row.state == State.REFUND_DUE and self.is_spendable(row):
                return None
            if not is_presented(row, self.proof):
                raise PaymentIdentifierReused("This payment identifier names your payment for something else.")
            raise self.payment_used_error("This payment is for something else. One payment buys one export.", row)
        if bought.payment_id == row.pk and row.state in Payment.EARNED:
            return OrderedExport(bought, Receipt.for_payment(row))
        if row.state in REFUNDS:
            if self.is_spendable(row):
                return None
            raise self.payment_used_error("The money of this payment goes back to you.", row)
        if row.state in OPEN_STATES and bought.status != Status.AWAITING_PAYMENT:
            # It cannot buy this any more, so it is not settled here; reconciliation finds its state.
            raise SettlementPending
        # A new order row: a payment that is refused at this moment would delete the old one.
        is_waiting = bought.status == Status.AWAITING_PAYMENT
        return self.buy(self.find_or_create_order(bought.wallet_id or self.wallet) if is_waiting else bought)

    def find_ledger_row(self) -> Payment | None:
        return find_presented(self.proof, caller=self.caller, now=self.now)

    def is_spendable(self, row: Payment) -> bool:
        """Whether a payment that is refund due may be spent here."""
        return Payment.objects.filter(pk=row.pk).spendable(now=self.now).exists()

    def payment_used_error(self, words: str, row: Payment) -> PaymentAlreadyUsed:
        """Build the error for a payment that buys nothing here."""
        quote = load_price_list([self.product], now=self.now).quote(self.caller.terms_for(None) or STANDARD)
        reason, refund = (row.state, row.public_id) if row.state in REFUNDS else (None, None)
        return PaymentAlreadyUsed(words, quote=quote, purchase=self.purchase, reason=reason, refund=refund)

    def sell(self) -> OrderedExport:
        """Return the unfinished export if it is paid, else require or take the payment."""
        found = commands.find_unfinished(self.wallet, self.kind, now=self.now)
        if found is not None and found.status == Status.AWAITING_PAYMENT:
            self.apply_pending_payment(found)
        if (
            found is not None
            and found.status != Status.AWAITING_PAYMENT
            and not isinstance(self.proof, TransactionProof)
        ):
            # The export is paid, so a presented payment is not settled.
            row = self.find_ledger_row()
            return OrderedExport(
                found, Receipt.for_payment(row) if row is not None and row.pk == found.payment_id else None
            )
        if self.proof is None:
            # Raises the challenge with the price.
            self.collect(self.purchase)
        export = self.find_or_create_order(self.wallet)
        try:
            return self.buy(export)
        except ApiError:
            commands.withdraw_order(export)
            raise

    def find_or_create_order(self, wallet: str) -> Export:
        return commands.find_or_create(
            wallet, self.kind, tier=self.caller.tier, status=Status.AWAITING_PAYMENT, now=self.now
        )

    def apply_pending_payment(self, export: Export) -> None:
        """Apply a settled payment to the export, or wait for one that is being settled: never two at once.

        Raises OtherPaymentPending, and SettlementPending if the presented payment is being settled too.
        """
        rows = list(payment_state.list_pending(export))
        for row in rows:
            if is_presented(row, self.proof):
                continue
            if row.state != State.SETTLED:
                raise (
                    SettlementPending
                    if any(is_presented(other, self.proof) for other in rows)
                    else OtherPaymentPending(self.proof)
                )
            payment_state.queue_export(export, row.pk)

    def buy(self, export: Export) -> OrderedExport:
        """Take the payment for this export and queue it.

        A payment that settled too late or twice becomes refund due; PaymentAlreadyUsed is raised then.
        """
        receipt = self.collect(payment_state.purchase_export(export, self.purchase))
        if not payment_state.queue_export(export, receipt.payment):
            message = payment_state.refund_unused(export, receipt.payment)
            row = Payment.objects.get(pk=receipt.payment)
            raise self.payment_used_error(f"{message} The money of this payment goes back to you.", row)
        return OrderedExport(export, receipt)

    def collect(self, purchase: Purchase) -> Receipt:
        return collect_payment(
            purchase,
            products=[self.product],
            caller=self.caller,
            proof=self.proof,
            receipt_token=self.receipt_token,
            now=self.now,
        )


def is_altered(proof: Proof | None, row: Payment) -> bool:
    """Whether a ledger row has the nonce of this payment and another signature."""
    return (
        isinstance(proof, Authorization)
        and is_presented(row, proof)
        and row.signature_digest not in ("", proof.signature_digest)
    )
