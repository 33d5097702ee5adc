"""Orders an export that is paid for: the price, the payment, and then the queue.

The order of a purchase whose goods are made later: a row that awaits its payment, the settlement, one conditional
UPDATE that queues it. One payment buys one export, however often and by whom it is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from catalogue.exports.requests import commands, payment_state, spec
from catalogue.exports.requests.spec import Wanted
from catalogue.models import Export
from framework.errors import ApiError, ErrorCode
from payments import checkout
from payments.chain.networks import payment_network
from payments.checkout import Purchase, SettlementPending
from payments.identity.caller import Caller
from payments.ledger import transitions
from payments.models import Payment
from payments.pricing import price_list
from payments.tiers.terms import STANDARD
from payments.x402 import Authorization, PaymentAlreadyUsed, Proof, Receipt, TransactionProof

Status, State = Export.Status, Payment.State
BACK = (State.REFUND_DUE, State.REFUNDED)


class AnotherPays(ApiError):
    """A payment for the export is being settled: another is not looked at meanwhile, and stays its payer's."""

    code = ErrorCode.SETTLEMENT_PENDING

    def __init__(self, proof: Proof | None) -> None:
        ordered = " GET /v1/exports shows whether it is ordered."
        if proof is None:
            words = "A payment for this export is being settled. This request has charged nothing." + ordered
        elif isinstance(proof, TransactionProof):
            words = (
                "Another payment for this export is being settled. This request has not used your transaction: ask"
                " again with it. Where that one buys the export, yours is owed back to you."
            )
        else:
            words = (
                "Another payment for this export is being settled. This request has charged nothing, and has not used"
                " yours: with it you would order the export once more after that one has ended."
            ) + ordered
        super().__init__(words, headers={"Retry-After": "2", "Cache-Control": "no-store"})


@dataclass(frozen=True, slots=True)
class Ordered:
    """An export that was ordered, and the receipt of the payment that came along, where it has bought this."""

    export: Export
    receipt: Receipt | None = None


def order(
    caller: Caller,
    wishes: Mapping[str, Any],
    *,
    purchase: Purchase,
    proof: Proof | None,
    receipt_token: str | None,
    now: datetime,
) -> Ordered:
    """The caller's unfinished export of this kind, paid for and queued now unless it is; enqueue a step then.

    `wishes` are what wanted.read takes; `purchase` is what a challenge speaks of. Call it outside of a transaction.
    Raises InvalidRequest, TierRequired and TooManyExports before there is a price, then what gate.collect raises.
    """
    wallet = commands.owner(caller)
    kind = spec.read(wallet, now=now, **wishes)
    product = payment_state.PRODUCTS[kind.dataset]
    commands.require_tier(caller, price_list.load_price_list([product], now=now).from_tier)
    if checkout.is_free_by_plan([product], caller=caller, now=now):
        return Ordered(commands.queued(wallet, kind, tier=caller.tier, now=now))
    counter = Counter(caller, wallet, kind, product, purchase, proof, receipt_token, now)
    if (shown := counter.known()) is not None:
        return shown
    return counter.sell()


@dataclass(frozen=True, slots=True)
class Counter:
    """Where one export is sold to one wallet."""

    caller: Caller
    wallet: str
    kind: Wanted
    product: str
    purchase: Purchase
    proof: Proof | None
    receipt_token: str | None
    now: datetime

    # A payment that was here before
    def known(self) -> Ordered | None:
        """What the payment that came along has bought before, or is buying; None where it has bought nothing yet."""
        row = self.line()
        if row is None:
            return None
        bought = payment_state.export_of(row)
        is_this = bought is not None and (bought.wallet_id, bought.fingerprint) == (self.wallet, self.kind.fingerprint)
        if bought is None or not is_this or is_altered(self.proof, row):
            if row.state == State.REFUND_DUE and self.may_still_buy(row):
                return None
            if not is_of(self.proof, row):
                raise checkout.PaymentIdentifierReused(
                    "This payment identifier names your payment for something else."
                )
            raise self.used("This payment is for something else. One payment buys one export.", row)
        if bought.payment_id == row.pk and row.state in Payment.EARNED:
            return Ordered(bought, Receipt.for_payment(row))
        if row.state in BACK:
            if self.may_still_buy(row):
                return None
            raise self.used("The money of this payment goes back to you.", row)
        if row.state in transitions.OPEN and bought.status != Status.AWAITING_PAYMENT:
            # It is not settled for what it cannot buy any more; how it stands is found out by others.
            raise SettlementPending
        # Else a payment that is refused at this moment would take it away.
        return self.buy(self.asked_for() if bought.status == Status.AWAITING_PAYMENT else bought)

    def line(self) -> Payment | None:
        """The line in the ledger of the payment that came along, or of the one that its payer has called the same."""
        if isinstance(self.proof, TransactionProof):
            rows = Payment.objects.filter(
                network=payment_network().caip2, tx_hash=self.proof.tx_hash, form=Payment.Form.TX
            )
            all_of_it = rows.order_by("log_index", "pk")
            return all_of_it.filter(payer__in=self.caller.wallets).first() or all_of_it.first()
        if not isinstance(self.proof, Authorization):
            return None
        row = transitions.find_by_proof(network=self.proof.network, proof_key=self.proof.proof_key)
        if row is None and self.proof.is_valid_at(self.now.timestamp()) and self.proof.is_signed():
            row = transitions.find_by_identifier(payer=self.proof.payer, identifier=self.proof.payment_identifier)
        return row

    def may_still_buy(self, row: Payment) -> bool:
        """Whether this money, which we owe, may be spent here."""
        return Payment.objects.filter(pk=row.pk).spendable(now=self.now).exists()

    def used(self, words: str, row: Payment) -> PaymentAlreadyUsed:
        """The refusal of a payment that buys nothing here."""
        quote = price_list.load_price_list([self.product], now=self.now).quote(self.caller.terms_for(None) or STANDARD)
        reason, refund = (row.state, row.public_id) if row.state in BACK else (None, None)
        return PaymentAlreadyUsed(words, quote=quote, purchase=self.purchase, reason=reason, refund=refund)

    # A new one, or none
    def sell(self) -> Ordered:
        """Show what is under way, else tell the price, else take the payment."""
        found = commands.unfinished(self.wallet, self.kind, now=self.now)
        if found is not None and found.status == Status.AWAITING_PAYMENT:
            self.wait_for_another(found)
        if (
            found is not None
            and found.status != Status.AWAITING_PAYMENT
            and not isinstance(self.proof, TransactionProof)
        ):
            # Nothing is settled for what is paid: not even a payment that came along.
            row = self.line()
            return Ordered(found, Receipt.for_payment(row) if row is not None and row.pk == found.payment_id else None)
        if self.proof is None:
            # It tells the price, and nobody is charged.
            self.collect(self.purchase)
        export = self.asked_for()
        try:
            return self.buy(export)
        except ApiError:
            commands.withdraw(export)
            raise

    def asked_for(self) -> Export:
        """The order that is to be paid for."""
        return commands.awaiting(self.wallet, self.kind, tier=self.caller.tier, now=self.now)

    def wait_for_another(self, export: Export) -> None:
        """Go on with money that has arrived for the export, or wait for what is being settled: never two at once.

        Raises AnotherPays, and SettlementPending where its own is being settled too.
        """
        rows = list(payment_state.coming(export))
        for row in rows:
            if is_of(self.proof, row):
                continue
            if row.state != State.SETTLED:
                raise SettlementPending if any(is_of(self.proof, each) for each in rows) else AnotherPays(self.proof)
            payment_state.queue(export, row.pk)

    def buy(self, export: Export) -> Ordered:
        """Take the payment for this export and queue it.

        What has arrived too late, or beside another payment, is owed back. Raises PaymentAlreadyUsed then.
        """
        receipt = self.collect(payment_state.purchase_of(export, self.purchase))
        if not payment_state.queue(export, receipt.payment):
            words = payment_state.owe_unbought(export, receipt.payment)
            row = Payment.objects.get(pk=receipt.payment)
            raise self.used(f"{words} The money of this payment goes back to you.", row)
        return Ordered(export, receipt)

    def collect(self, purchase: Purchase) -> Receipt:
        """The gate's own word on it."""
        return checkout.collect(
            purchase,
            products=[self.product],
            caller=self.caller,
            proof=self.proof,
            receipt_token=self.receipt_token,
            now=self.now,
        )


def is_of(proof: Proof | None, row: Payment) -> bool:
    """Whether a line in the ledger is of this payment."""
    if isinstance(proof, TransactionProof):
        return row.tx_hash == proof.tx_hash
    return isinstance(proof, Authorization) and (row.network, row.proof_key) == (proof.network, proof.proof_key)


def is_altered(proof: Proof | None, row: Payment) -> bool:
    """Whether a line is of another payment with the nonce of this one."""
    return (
        isinstance(proof, Authorization)
        and is_of(proof, row)
        and row.signature_digest not in ("", proof.signature_digest)
    )
