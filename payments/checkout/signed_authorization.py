"""The checkout of a signed authorization (EIP-3009), as a state machine that settles it at most once.

TRANSITIONS at the end of this module lists the states in the order in which they are read; docs/checkout.md draws it.
"""

import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import Error as DatabaseError
from django.utils import timezone

from framework.errors import ApiError
from payments.chain import evm, reads
from payments.chain.networks import payment_network
from payments.chain.reads import NotAPayment, Transfer
from payments.chain.rpc import RpcUnavailable
from payments.checkout import admission, confirmation, prior_transfers, spending_limit, state_machine
from payments.checkout.admission import build_rejection
from payments.checkout.confirmation import NotConfirmed
from payments.checkout.context import (
    FacilitatorUnavailable,
    PaymentIdentifierReused,
    Sale,
    SettlementPending,
    TierRequired,
)
from payments.checkout.spending_limit import SpendingLimitReached
from payments.ledger import reconcile, transitions
from payments.ledger.receivers import receivers
from payments.ledger.reconcile import AuthorizationStatus
from payments.models import Payment
from payments.tiers.definitions import Tier
from payments.x402 import facilitator_client
from payments.x402.challenges import PaymentAlreadyUsed, PaymentRejected, build_requirement, build_resource
from payments.x402.facilitator_client import Failed, NotSent, Rejected, Settled
from payments.x402.proofs import Authorization
from payments.x402.receipts import Receipt

# 9999-12-31T23:59:59Z: a wallet may sign any number, and a datetime holds no later second.
MAX_TIMESTAMP = 253_402_300_799
# Another request with the same payment normally ends within milliseconds.
MAX_WAIT_S = 2.0
POLL_INTERVAL_S = 0.02

State = Payment.State


@dataclass(slots=True)
class Checkout:
    """What one request knows about its payment. Fields without a default are set before they are used."""

    sale: Sale
    signed: Authorization
    # The row that claims the authorization for us, inserted or not; None if the authorization was not admitted.
    claim: Payment | None = None
    # Why it was not admitted.
    refusal: ApiError | None = None
    # The account whose spending limit applies, if there is one.
    limited_account: UUID | None = None
    # By time.monotonic(): another request is waited for until then.
    wait_until: float = field(init=False)
    # The row of the ledger that decides.
    payment: Payment = field(init=False)
    # What the facilitator answered if it did not settle.
    rejection: Rejected | Failed = field(init=False)
    # The use of the authorization that the chain shows.
    transfer: Transfer = field(init=False)
    # The facilitator was asked: from here on an error does not mean that nothing was charged.
    is_sent: bool = False
    # The chain has shown that the authorization is not used; asked once.
    is_unspent: bool = False


Next = state_machine.State[Checkout]


def collect(sale: Sale, signed: Authorization) -> Receipt:
    """Return the receipt of this authorization, settled now or before."""
    checkout = Checkout(sale, signed)
    try:
        return state_machine.run(TRANSITIONS, checkout)
    except DatabaseError as error:
        if not checkout.is_sent:
            raise
        # The payment stays claimed in the ledger, and the next request for it asks the chain.
        raise SettlementPending from error


def verify(checkout: Checkout) -> Next:
    """Refuse what can never pay us: another scheme, network, asset or receiver, or the signature of another wallet."""
    admission.verify(checkout.sale, checkout.signed)
    return admit


def admit(checkout: Checkout) -> Next:
    """Decide whether the authorization may be settled now, by its times, its amount and the payer's tier.

    A refusal waits: what the authorization has bought before does not depend on the current time and prices.
    """
    try:
        tier, checkout.limited_account = admission.admit(checkout.sale, checkout.signed)
    except ApiError as error:
        checkout.refusal = error
    else:
        checkout.claim = new_claim(checkout.sale, checkout.signed, tier=tier, account=checkout.limited_account)
    checkout.wait_until = time.monotonic() + MAX_WAIT_S
    return claim


def claim(checkout: Checkout) -> Next:
    """Insert the claim, committed at once: of concurrent requests with this authorization only one succeeds."""
    if checkout.claim is None:
        return find
    has_check = checkout.sale.check_claim is not None or checkout.limited_account is not None
    try:
        is_inserted = transitions.insert(checkout.claim, check=partial(check_claim, checkout) if has_check else None)
    except SpendingLimitReached as error:
        assert checkout.limited_account is not None  # noqa: S101 - check_claim
        spending_limit.alert_refusal(
            checkout.limited_account, error, amount=checkout.claim.amount_usdc, now=checkout.sale.now
        )
        # If the authorization is on the chain already, its money has arrived.
        checkout.claim, checkout.refusal = None, error
        return find
    if not is_inserted:
        return find
    checkout.payment = checkout.claim
    return decline if is_public(checkout) and transitions.release_claim(checkout.payment) else settle


def check_claim(checkout: Checkout, payment: Payment) -> None:
    """Raise an ApiError, in the transaction of the claim, if the payment must not be settled."""
    if checkout.sale.check_claim is not None:
        checkout.sale.check_claim(payment)
    if checkout.limited_account is not None:
        spending_limit.reserve(payment, account=checkout.limited_account)


def is_public(checkout: Checkout) -> bool:
    """Whether the authorization was on the chain before this request, whose caller has not proven to be its payer.

    One request to the node for callers without a proven wallet; False while it is unavailable.
    """
    signed = checkout.signed
    if signed.payer in checkout.sale.caller.wallets:
        return False
    try:
        return reads.is_authorization_spent(signed.payer, signed.nonce)
    except RpcUnavailable:
        return False


def settle(checkout: Checkout) -> Next | Receipt:
    """Have the facilitator settle the payment, once, and record the outcome. The claim is ours and committed."""
    signed, payment = checkout.signed, checkout.payment
    outcome = facilitator_client.settle(
        payload=to_payload(signed),
        requirement=build_requirement(signed.value, pay_to=signed.to),
        resource=build_resource(checkout.sale.purchase),
        payer=signed.payer,
    )
    checkout.is_sent = True
    transitions.set_facilitator(payment, outcome.facilitator)
    match outcome:
        case Settled():
            try:
                transfer = confirmation.await_settlement(payment, tx_hash=str(outcome.transaction))
            except NotConfirmed as error:
                # The authorization may have been used in another transaction.
                if check_chain(payment).has_ended:
                    return finish
                raise leave_unknown(payment, reason=str(error), tx_hash=outcome.transaction) from error
            transitions.mark_settled(payment, tx_hash=str(outcome.transaction), transfer=transfer, now=timezone.now())
            checkout.sale.release_quote()
            # The sweep may have recorded from the chain that less has arrived.
            return Receipt.for_payment(payment) if payment.state in Payment.EARNED else finish
        case Rejected() | Failed():
            checkout.rejection = outcome
            return dispute
        case NotSent():
            if payment.attempts == 1 and transitions.release_claim(payment):
                raise FacilitatorUnavailable
    # Unknown; or not sent this time, but an earlier attempt may have been, or the request that has taken the payment
    # over sends it now.
    raise leave_unknown(payment, reason=outcome.reason, tx_hash=outcome.transaction)


def dispute(checkout: Checkout) -> Next:
    """Check the facilitator's rejection against the chain: another sender may have been first, then it is paid.

    The claim is released only if the authorization is unused and this settlement was certainly not sent or reverted.
    """
    payment, rejected = checkout.payment, checkout.rejection
    is_final = isinstance(rejected, Rejected) or is_reverted(payment, rejected.transaction)
    status = check_chain(payment)
    may_release = status is AuthorizationStatus.UNUSED and is_final and payment.attempts == 1
    if may_release and transitions.release_claim(payment):
        raise build_rejection(checkout.sale, "The facilitator has refused the payment.", rejected.reason)
    if status.has_ended:
        return finish
    raise leave_unknown(payment, reason=rejected.reason)


def check_chain(payment: Payment) -> AuthorizationStatus:
    """Return what the chain shows of the payment. Raises SettlementPending while the chain cannot be read."""
    try:
        return reconcile.check_chain(payment, now=timezone.now())
    except RpcUnavailable as error:
        raise leave_unknown(payment, reason=error.message) from error


def leave_unknown(payment: Payment, *, reason: str, tx_hash: str | None = None) -> SettlementPending:
    """Record that the outcome is not known, and return the error that says so."""
    transitions.mark_unknown(payment, reason=reason, tx_hash=tx_hash)
    return SettlementPending()


def is_reverted(payment: Payment, transaction: str | None) -> bool:
    """Whether the chain shows that the transaction has moved nothing. Raises SettlementPending."""
    if transaction is None:
        return False
    try:
        receipt = reads.find_receipt(transaction)
    except RpcUnavailable as error:
        raise leave_unknown(payment, reason=error.message, tx_hash=transaction) from error
    return receipt is not None and receipt.is_reverted


def find(checkout: Checkout) -> Next:
    """Find the payment in the ledger: by the authorization, else by the payment identifier."""
    signed = checkout.signed
    recorded = transitions.find_by_proof(network=signed.network, proof_key=signed.proof_key)
    if recorded is not None:
        checkout.payment = recorded
        return replay
    # An identifier is not signed: it counts for an authorization that is valid now.
    if signed.is_valid_at(checkout.sale.now.timestamp()):
        first = transitions.find_by_identifier(payer=signed.payer, identifier=signed.payment_identifier)
        if first is not None:
            checkout.payment = first
            return identify
    # Without a refusal another request has just released its claim: then it is our turn.
    return decline if checkout.claim is None else wait


def replay(checkout: Checkout) -> Next | Receipt:
    """Judge the payment that the ledger holds under this authorization's nonce."""
    sale, payment = checkout.sale, checkout.payment
    if not sale.is_owner(payment):
        raise sale.build_unproven_error()
    if payment.state == State.REFUND_DUE and payment.error == "unproven_sender":
        # A stranger has presented it first.
        return Receipt.for_payment(payment) if prior_transfers.spend_refund_due(sale, payment) else finish
    if not payment.signature_digest and payment.state in (State.REFUND_DUE, State.REFUNDED):
        # The chain audit recorded it before a caller presented it (payments/ledger/chain_audit.py).
        return finish
    if payment.signature_digest != checkout.signed.signature_digest or payment.purchase != sale.purchase.key:
        # Another amount under the same nonce is another payment.
        message = "This payment is for something else. One payment buys one answer."
        raise sale.build_payment_error(PaymentAlreadyUsed, message)
    if payment.state == State.EXPIRED and check_chain(payment) is AuthorizationStatus.UNCONFIRMED:
        raise SettlementPending
    if payment.state not in transitions.OPEN:
        return finish
    if not sale.is_covered_by(payment):
        # The answer contains more than was paid for, but the payment may still be settled for what it was.
        raise SettlementPending
    if transitions.take_over(payment, now=timezone.now()):
        return resume
    return wait


def resume(checkout: Checkout) -> Next:
    """Continue a settlement that was abandoned: ask the chain, and settle the same authorization again if unused."""
    signed, payment = checkout.signed, checkout.payment
    status = check_chain(payment)
    if status.has_ended:
        return finish
    min_valid_before = checkout.sale.now.timestamp() + admission.MIN_VALIDITY.total_seconds()
    if status is AuthorizationStatus.UNUSED and signed.valid_before >= min_valid_before:
        return settle
    raise leave_unknown(payment, reason=payment.error)


def identify(checkout: Checkout) -> Next | Receipt:
    """Serve what the payer's first payment with this identifier has bought; this authorization is never settled.

    A client that has lost an answer signs a new authorization with the same identifier (x402, extension
    payment-identifier). An authorization that is on the chain proves nothing, because anybody can read it there, and
    its money may be here: it is judged by itself, without its identifier.
    """
    signed = checkout.signed
    if not checkout.is_unspent and reads.is_authorization_spent(signed.payer, signed.nonce):
        checkout.signed = replace(signed, payment_identifier="")
        if checkout.claim is not None:
            checkout.claim.payment_identifier = ""
        return claim
    checkout.is_unspent = True
    return get_first_receipt(checkout.sale, checkout.payment) or wait


def get_first_receipt(sale: Sale, payment: Payment) -> Receipt | None:
    """Return the receipt of the payer's first payment with this identifier; None while its settlement has not ended.

    This request does not hold the first payment's signature: if its settlement was abandoned the chain is asked, and
    only a request with its own header can have it settled again. Raises PaymentIdentifierReused and SettlementPending.
    """
    if payment.purchase != sale.purchase.key:
        raise PaymentIdentifierReused("This payment identifier names your payment for something else.")
    is_taken_over = payment.state in transitions.OPEN and transitions.take_over(payment, now=timezone.now())
    if is_taken_over and not check_chain(payment).has_ended:
        raise leave_unknown(payment, reason=payment.error)
    if payment.state in transitions.OPEN or not payment.payment_identifier:
        return None
    if payment.state not in Payment.EARNED:
        raise PaymentIdentifierReused(
            "The money of your payment with this identifier goes back to you, or was sent back.",
            refund=payment.public_id,
        )
    if not sale.is_covered_by(payment):
        raise PaymentIdentifierReused(
            "There is more in this answer now than you have paid for under this identifier.",
            refund=payment.public_id if prior_transfers.mark_refund_due_if_undelivered(payment) else None,
        )
    if not transitions.count_repeat(payment, now=sale.now):
        raise PaymentIdentifierReused(
            "The answer to your payment with this identifier was given, and its time is over."
        )
    return Receipt.for_payment(payment)


def decline(checkout: Checkout) -> Next:
    """Raise the refusal, unless the authorization is on the chain: then its money may be here.

    No caller is told that nothing was charged before the chain was asked. Raises RpcUnavailable.
    """
    sale, signed = checkout.sale, checkout.signed
    # Without a refusal it was admitted, and is on the chain already.
    refusal = checkout.refusal or build_rejection(sale, "The authorization was used or cancelled.", "used")
    is_final = isinstance(refusal, PaymentRejected | TierRequired | SpendingLimitReached)
    if not is_final or not reads.is_authorization_spent(signed.payer, signed.nonce):
        raise refusal
    try:
        transfer = reads.find_authorization_transfer(signed.payer, signed.nonce, receivers=receivers())
    except NotAPayment:
        raise refusal from None
    if transfer is not None:
        checkout.transfer = transfer
        return record
    if signed.valid_before > (sale.now - reconcile.LOG_WINDOW).timestamp():
        raise SettlementPending
    message = "The payment's time is over. It was used or cancelled, longer ago than we look back."
    raise sale.build_payment_error(PaymentRejected, message, reason="expired")


def record(checkout: Checkout) -> Next | Receipt:
    """Record an authorization that was sent to the chain without us: it buys the purchase, or a refund is due."""
    sale, signed, transfer = checkout.sale, checkout.signed, checkout.transfer
    age = sale.now - transfer.mined_at
    best, problem = prior_transfers.assess_transfer(sale, payer=signed.payer, amount=transfer.amount, age=age)
    is_proven = signed.payer in sale.caller.wallets
    if not is_proven and problem != "too_old":
        problem = "unproven_sender"
    payment = prior_transfers.new_payment(
        sale,
        transfer,
        tier=best.tier,
        problem=problem,
        **signed_fields(signed),
    )
    if not is_proven:
        # Neither the caller nor the 402 whose secret they sent become its owner.
        payment.origin = payment.quote_digest = ""
    if not transitions.insert(payment):
        # The identifier may name another payment: then this one is recorded without it.
        payment.payment_identifier = ""
        if not transitions.insert(payment):
            return wait
    if not is_proven:
        raise sale.build_unproven_error(refund=payment.public_id)
    if problem is not None:
        raise prior_transfers.build_refund_due_error(sale, payment, problem=problem, terms=best)
    return Receipt.for_payment(payment)


def wait(checkout: Checkout) -> Next:
    """Wait a moment for the request that is settling the payment, then try again. Raises SettlementPending."""
    if time.monotonic() > checkout.wait_until:
        raise SettlementPending(retry_after_s=1)
    time.sleep(POLL_INTERVAL_S)
    return claim


def finish(checkout: Checkout) -> Receipt:
    """Answer by a payment whose settlement has ended: its receipt while it buys this answer, else why it does not."""
    sale, payment = checkout.sale, checkout.payment
    if payment.state in Payment.EARNED:
        return prior_transfers.get_receipt(sale, payment)
    if payment.state == State.EXPIRED:
        raise build_rejection(sale, f"The payment was not settled. {payment.error}".rstrip(), "expired")
    raise sale.build_payment_error(
        PaymentAlreadyUsed,
        "The money of this payment goes back to you.",
        reason=payment.state,
        refund=payment.public_id,
    )


def new_claim(sale: Sale, signed: Authorization, *, tier: Tier, account: UUID | None) -> Payment:
    """Return the payment that says that we are about to settle this authorization, not saved.

    `account` is the one whose spending limit applies; without a limit the insert sets the account.
    """
    return sale.new_payment(
        state=State.CLAIMED,
        payer=signed.payer,
        account_id=account,
        amount_usdc=payment_network().to_decimal(signed.value),
        tier=tier.name,
        facilitator=facilitator_client.public_url(settings.FACILITATOR_URL),
        claimed_at=timezone.now(),
        **signed_fields(signed),
    )


def signed_fields(signed: Authorization) -> dict[str, Any]:
    """Return the fields of a payment that its authorization decides."""
    return {
        "form": signed.form,
        "proof_key": signed.proof_key,
        "signature_digest": signed.signature_digest,
        "payment_identifier": signed.payment_identifier,
        "quote_digest": signed.quote_digest,
        "valid_before": datetime.fromtimestamp(min(signed.valid_before, MAX_TIMESTAMP), tz=UTC),
    }


def to_payload(signed: Authorization) -> dict[str, object]:
    """Return the signed payment as x402 writes it."""
    return {
        "signature": f"0x{signed.signature.hex()}",
        "authorization": {
            "from": evm.to_checksum_address(signed.payer),
            "to": evm.to_checksum_address(signed.to),
            "value": str(signed.value),
            "validAfter": str(signed.valid_after),
            "validBefore": str(signed.valid_before),
            "nonce": f"0x{signed.nonce.hex()}",
        },
    }


# Each state, and the states that may follow. A state may also end the checkout, with a receipt or an error.
TRANSITIONS: state_machine.Transitions[Checkout] = {
    verify: {admit},
    admit: {claim},
    claim: {settle, find, decline},
    # Our claim
    settle: {dispute, finish},
    dispute: {finish},
    # The ledger knows the authorization, or we may not claim it
    find: {replay, identify, decline, wait},
    replay: {finish, resume, wait},
    resume: {settle, finish},
    identify: {claim, wait},
    decline: {record},
    record: {wait},
    wait: {claim},
    finish: set(),
}
