"""Takes a signed authorization (EIP-3009): checks it, has it settled once, knows it when it comes back."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import Error as DatabaseError
from django.utils import timezone

from framework.errors import Refusal
from payments.chain import evm, reads
from payments.chain.networks import ours
from payments.chain.reads import NotAPayment
from payments.chain.rpc import RpcUnavailable
from payments.checkout import payment_identifier, prior_transfers
from payments.checkout.context import Sale, TierRequired, public_id
from payments.checkout.pending_settlement import FacilitatorUnavailable, Patience, SettlementPending, is_left, looked
from payments.ledger import reconcile, transitions
from payments.ledger.reconcile import Fate
from payments.models import Payment, Wallet
from payments.tiers import holdings
from payments.tiers.definitions import Tier
from payments.tiers.terms import STANDARD, Terms
from payments.x402 import (
    Authorization,
    PaymentAlreadyUsed,
    PaymentRejected,
    Receipt,
    facilitator_client,
    receipt_of,
    requirement,
    resource,
)
from payments.x402.facilitator_client import Failed, NotSent, Outcome, Rejected, Settled, Unknown

State = Payment.State
# A facilitator needs as long to get it into a block.
LEAST_VALID = timedelta(seconds=6)
MOST_VALID = timedelta(hours=24)
# Wallets may sign any number: of the year 9999.
LAST_SECOND = 253_402_300_799


def collect(sale: Sale, signed: Authorization) -> Receipt:
    """The receipt of this authorization, settled now or before."""
    check(sale, signed)
    line, refusal = None, None
    try:
        line = claim(sale, signed, tier=admitted(sale, signed))
    except Refusal as error:
        # What it has bought before does not depend on today's clock and prices.
        refusal = error
    patience, is_looked_up = Patience(), False
    while True:
        if line is not None and transitions.enter(line):
            return settle(sale, signed, line)
        row = transitions.find(network=signed.network, proof_key=signed.proof_key)
        first = payment_identifier.first_of(sale, signed) if row is None else None
        if first is not None and not is_looked_up:
            is_looked_up = True
            if reads.authorization_is_spent(signed.payer, signed.nonce):
                # Everybody can read it there, and its money may be here: it stands for itself alone, under no name.
                signed, first = replace(signed, payment_identifier=""), None
                if line is not None:
                    line.payment_identifier = ""
                    continue
        receipt = None
        if row is not None:
            receipt = known(sale, signed, row)
        elif first is not None:
            receipt = payment_identifier.bought(sale, first)
        elif refusal is not None:
            receipt = unless_sent(sale, signed, refusal)
        if receipt is not None:
            return receipt
        # Another request is settling it, or has let it go: then it is our turn.
        patience.wait()


def known(sale: Sale, signed: Authorization, row: Payment) -> Receipt | None:
    """What this authorization has bought, by its line in the ledger; None while another request is settling it."""
    if not row.deed and row.state in (State.REFUND_DUE, State.REFUNDED):
        # It was found on the chain before anybody came with it (payments/ledger/chain_audit.py).
        return ended(sale, row)
    if row.deed != signed.deed or row.purchase != sale.purchase.key:
        # Another amount under the same nonce is another payment.
        raise sale.refused(PaymentAlreadyUsed, "This payment is for something else. One payment buys one answer.")
    if row.state == State.EXPIRED and looked(row) is Fate.UNCLEAR:
        raise SettlementPending
    if row.state not in transitions.OPEN:
        return ended(sale, row)
    if not sale.is_in(row):
        # More is sold now than was paid for, but what was paid for is not known to be over.
        raise SettlementPending
    if is_left(row) and transitions.take_over(row, now=timezone.now()):
        return resume(sale, signed, row)
    return None


# Before anything is settled
def check(sale: Sale, signed: Authorization) -> None:
    """Refuse what can never pay us: another scheme, network, asset or receiver, or somebody else's signature.

    What the payer's key has not signed may still be good where the payer is a contract, which judges for itself. It
    costs one trip to the chain, two where it does not agree. It may agree no more with what it has paid with: that is
    in the ledger, and stays good for what it has bought. Raises RpcUnavailable.
    """
    network = ours()
    expected = {
        "scheme": ("exact", signed.scheme),
        "network": (network.caip2, signed.network),
        "asset": (network.asset, signed.asset or network.asset),
        "pay_to": (settings.PAY_TO, signed.to),
    }
    for name, (ours_is, its_is) in expected.items():
        if ours_is != its_is:
            raise rejected(sale, f"The payment names `{its_is}` where we ask for `{ours_is}`.", f"wrong_{name}")
    if (
        not signed.is_signed()
        and not reads.approves(signed.payer, signed.digest, signed.signature)
        and not transitions.knows(network=signed.network, proof_key=signed.proof_key, deed=signed.deed)
    ):
        what = "The signature is not of the wallet that it names as payer."
        if reads.authorization_is_spent(signed.payer, signed.nonce):
            # Somebody has sent it. Who it is that asks now is not proven, so nothing is served or written for it.
            what += " The authorization was used or cancelled: what it has paid us is kept for that wallet."
            raise sale.refused(PaymentRejected, what, reason="invalid_signature")
        raise rejected(sale, what, "invalid_signature")


def admitted(sale: Sale, signed: Authorization) -> Tier:
    """The payer's tier, when this authorization may be settled now. Raises TierRequired and PaymentRejected."""
    now = sale.now.timestamp()
    if signed.valid_before < now + LEAST_VALID.total_seconds():
        raise rejected(sale, "The payment's time is over: sign a new one.", "expired")
    if signed.valid_after >= now:
        raise rejected(sale, "The payment is not valid yet.", "not_yet_valid")
    if signed.valid_before > now + MOST_VALID.total_seconds():
        raise rejected(sale, "The payment is valid for longer than a day: sign one for a minute.", "valid_too_long")
    amount = ours().decimal(signed.value)
    payer = holdings.find(signed.payer, now=sale.now)
    if amount not in sale.could_be_acceptable(payer):
        raise wrong_amount(sale, signed)
    theirs = terms_of_payer(sale, signed, payer)
    best = sale.terms_for(signed.payer, theirs)
    if best.tier < sale.prices.from_tier:
        raise sale.not_sold_to(best)
    if amount not in sale.acceptable(signed.payer, theirs):
        raise wrong_amount(sale, signed)
    return best.tier


def terms_of_payer(sale: Sale, signed: Authorization, payer: Wallet) -> Terms:
    """The payer's terms; while the chain is away the standard ones, where these, or what the caller lends, do."""
    try:
        return holdings.terms_now(payer, now=sale.now)
    except RpcUnavailable:
        is_sold = sale.terms_for(signed.payer, STANDARD).tier >= sale.prices.from_tier
        if is_sold and ours().decimal(signed.value) in sale.acceptable(signed.payer, STANDARD):
            return STANDARD
        raise


def wrong_amount(sale: Sale, signed: Authorization) -> PaymentRejected:
    """The refusal of an amount that is not the price for this payer."""
    paid, price = ours().decimal(signed.value).normalize(), sale.quote.amount.normalize()
    is_anothers = sale.caller.is_known and sale.caller.terms_for(signed.payer) is None
    why = " You have not proven the wallet that pays, so it is asked for the standard price." if is_anothers else ""
    return rejected(
        sale, f"The payment is of {paid:f} {ours().asset_name}, the price is {price:f}.{why}", "wrong_amount"
    )


def rejected(sale: Sale, message: str, reason: str) -> PaymentRejected:
    """A refusal with which nothing was charged."""
    return sale.refused(PaymentRejected, f"{message} Nothing was charged.", reason=reason)


def claim(sale: Sale, signed: Authorization, *, tier: Tier) -> Payment:
    """The line that says that we are about to settle this."""
    return sale.line(
        form=signed.form,
        state=State.CLAIMED,
        network=signed.network,
        asset=ours().asset,
        payer=signed.payer,
        pay_to=signed.to,
        amount_usdc=ours().decimal(signed.value),
        proof_key=signed.proof_key,
        deed=signed.deed,
        payment_identifier=signed.payment_identifier,
        tier=tier.name,
        valid_before=moment(signed.valid_before),
        facilitator=facilitator_client.asked_at(settings.FACILITATOR_URL),
        attempts=1,
        claimed_at=timezone.now(),
    )


def unless_sent(sale: Sale, signed: Authorization, refusal: Refusal) -> Receipt | None:
    """Raise the refusal, unless somebody has sent this authorization to the chain: then its money is here.

    None where its line has come into the ledger meanwhile.

    Nobody is told that nothing was charged before the chain was asked. Raises RpcUnavailable.
    """
    if not isinstance(refusal, PaymentRejected | TierRequired):
        raise refusal
    if not reads.authorization_is_spent(signed.payer, signed.nonce):
        raise refusal
    try:
        found = reads.authorization_used(signed.payer, signed.nonce)
    except NotAPayment:
        raise refusal from None
    if found is None and signed.valid_before > (sale.now - reconcile.SEEN_WITHIN).timestamp():
        raise SettlementPending
    if found is None:
        raise sale.refused(
            PaymentRejected,
            "The payment's time is over. It was used or cancelled, longer ago than we look back.",
            reason="expired",
        )
    theirs = holdings.terms_of(signed.payer, now=sale.now)
    best = sale.terms_for(signed.payer, theirs)
    age = sale.now - found.mined_at
    problem = prior_transfers.objection(sale, payer=signed.payer, amount=found.amount, terms=theirs, age=age)
    row = prior_transfers.line(
        sale,
        found,
        tier=best.tier,
        problem=problem,
        form=signed.form,
        proof_key=signed.proof_key,
        deed=signed.deed,
        payment_identifier=signed.payment_identifier,
        valid_before=moment(signed.valid_before),
    )
    if not transitions.enter(row):
        # Where its name is taken, it is in the books without.
        row.payment_identifier = ""
        if not transitions.enter(row):
            return None
    if problem is not None:
        raise prior_transfers.owed(sale, row, problem=problem, terms=best)
    return receipt_of(row)


def moment(seconds: int) -> datetime:
    """A time that was signed, as far as a date reaches."""
    return datetime.fromtimestamp(min(seconds, LAST_SECOND), tz=UTC)


# Settling
def settle(sale: Sale, signed: Authorization, row: Payment) -> Receipt:
    """Have it settled, once. The line must be claimed by us and committed."""
    outcome = facilitator_client.settle(
        payload=payload(signed),
        requirement=requirement(ours(), signed.value),
        resource=resource(sale.purchase),
        payer=signed.payer,
    )
    try:
        transitions.note_facilitator(row, outcome.by)
        return written(sale, row, outcome)
    except DatabaseError as error:
        # The line stays claimed, and who comes for it later asks the chain.
        raise SettlementPending from error


def written(sale: Sale, row: Payment, outcome: Outcome) -> Receipt:
    """Write down how the settlement ended, and answer by it."""
    match outcome:
        case Settled(transaction):
            transitions.settle(row, tx_hash=transaction, now=timezone.now())
            # The chain may have shown before that less has arrived.
            return receipt_of(row) if row.state in (State.SETTLED, State.DELIVERED) else ended(sale, row)
        case NotSent(why):
            if row.attempts == 1 and transitions.release(row):
                raise FacilitatorUnavailable
            # An earlier attempt may have been sent, or whoever has taken it over sends it now.
            transitions.leave_open(row, why=why)
        case Unknown(why, transaction):
            transitions.leave_open(row, why=why, tx_hash=transaction)
        case Rejected(reason):
            return doubted(sale, row, reason, is_sure=True)
        case Failed(reason, transaction):
            return doubted(sale, row, reason, is_sure=transaction is not None and has_failed(row, transaction))
    raise SettlementPending


def has_failed(row: Payment, transaction: str) -> bool:
    """Whether the chain shows that this transaction has moved nothing. Raises SettlementPending."""
    try:
        return reads.was_reverted(transaction)
    except RpcUnavailable as error:
        transitions.leave_open(row, why=error.message, tx_hash=transaction)
        raise SettlementPending from error


def doubted(sale: Sale, row: Payment, reason: str, *, is_sure: bool) -> Receipt:
    """The facilitator has refused: also when somebody else was first to send this authorization, then it is paid.

    Only what was surely not sent, or has surely failed (`is_sure`), and is unused on the chain, is let go.
    """
    fate = looked(row)
    if fate is Fate.UNUSED and is_sure and row.attempts == 1 and transitions.release(row):
        raise rejected(sale, "The facilitator has refused the payment.", reason)
    if fate in (Fate.ARRIVED, Fate.LOST):
        return ended(sale, row)
    transitions.leave_open(row, why=reason)
    raise SettlementPending


def resume(sale: Sale, signed: Authorization, row: Payment) -> Receipt:
    """Go on with a settlement that nobody saw the end of: ask the chain, and settle the same again if need be."""
    fate = looked(row)
    if fate in (Fate.ARRIVED, Fate.LOST):
        return ended(sale, row)
    if fate is Fate.UNUSED and signed.valid_before >= sale.now.timestamp() + LEAST_VALID.total_seconds():
        return settle(sale, signed, row)
    transitions.leave_open(row, why=row.error)
    raise SettlementPending


def ended(sale: Sale, row: Payment) -> Receipt:
    """What a payment that has come to an end is good for: its own answer, for a while."""
    if row.state in (State.SETTLED, State.DELIVERED):
        if not sale.is_in(row):
            raise prior_transfers.outgrown(sale, row)
        if transitions.is_readable(row, now=sale.now):
            return receipt_of(row)
        raise sale.refused(PaymentAlreadyUsed, "The answer to this payment was given, and its time is over.")
    if row.state == State.EXPIRED:
        raise rejected(sale, f"The payment was not settled. {row.error}".rstrip(), "expired")
    raise sale.refused(
        PaymentAlreadyUsed, "The money of this payment goes back to you.", reason=row.state, refund=public_id(row)
    )


def payload(signed: Authorization) -> dict[str, object]:
    """The signed payment as x402 writes it."""
    return {
        "signature": f"0x{signed.signature.hex()}",
        "authorization": {
            "from": evm.checksummed(signed.payer),
            "to": evm.checksummed(signed.to),
            "value": str(signed.value),
            "validAfter": str(signed.valid_after),
            "validBefore": str(signed.valid_before),
            "nonce": f"0x{signed.nonce.hex()}",
        },
    }
