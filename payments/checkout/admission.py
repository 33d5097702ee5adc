"""Decides whether a signed authorization may be settled for a sale. Nothing is written or charged here."""

from datetime import timedelta
from uuid import UUID

from django.conf import settings

from payments.chain import reads
from payments.chain.networks import payment_network
from payments.chain.rpc import RpcUnavailable
from payments.checkout.context import Sale
from payments.ledger.receivers import receivers
from payments.models import Payment, Wallet
from payments.tiers import holdings
from payments.tiers.definitions import Tier
from payments.tiers.terms import STANDARD, Terms
from payments.x402.challenges import PaymentRejected
from payments.x402.proofs import Authorization

# A facilitator needs up to this long to get a transaction into a block.
MIN_VALIDITY = timedelta(seconds=6)
MAX_VALIDITY = timedelta(hours=24)


def verify(sale: Sale, signed: Authorization) -> None:
    """Check the scheme, network, asset, receiver and signature of an authorization. Raises PaymentRejected.

    A signature that is not the payer's key's is valid where the payer is a contract that accepts it (ERC-1271): one
    request to the chain, two where the contract does not accept it. A contract may stop accepting what it
    has paid with; an authorization that the ledger holds stays valid for what it has bought. Raises RpcUnavailable.
    """
    network = payment_network()
    expected = {
        "scheme": ("exact", signed.scheme),
        "network": (network.caip2, signed.network),
        "asset": (network.asset, signed.asset or network.asset),
        # What was signed for a former receiver may have been paid; `admit` refuses what was not.
        "pay_to": (signed.to if signed.to in receivers() else settings.PAY_TO, signed.to),
    }
    for name, (required, actual) in expected.items():
        if actual != required:
            raise build_rejection(
                sale, f"The payment names `{actual}` where we ask for `{required}`.", f"wrong_{name}"
            )
    is_valid = (
        signed.is_signed()
        or reads.is_contract_signature(signed.payer, signed.digest, signed.signature)
        or Payment.objects.filter(
            network=signed.network, proof_key=signed.proof_key, signature_digest=signed.signature_digest
        ).exists()
    )
    if is_valid:
        return
    message = "The signature is not of the wallet that it names as payer."
    if reads.is_authorization_spent(signed.payer, signed.nonce):
        # The authorization was sent to the chain. The caller has not proven to be the payer, so nothing is served or
        # written for this request.
        message += " The authorization was used or cancelled: what it has paid us is kept for that wallet."
        raise sale.build_payment_error(PaymentRejected, message, reason="invalid_signature")
    raise build_rejection(sale, message, "invalid_signature")


def admit(sale: Sale, signed: Authorization) -> tuple[Tier, UUID | None]:
    """Return the payer's tier if this authorization may be settled now, and the account whose spending limit applies.

    Raises TierRequired and PaymentRejected.
    """
    now = sale.now.timestamp()
    if signed.to != settings.PAY_TO:
        raise build_rejection(
            sale, "The payment is to a former address of ours: ask again for the price.", "wrong_pay_to"
        )
    if signed.valid_before < now + MIN_VALIDITY.total_seconds():
        raise build_rejection(sale, "The payment's time is over: sign a new one.", "expired")
    if signed.valid_after >= now:
        raise build_rejection(sale, "The payment is not valid yet.", "not_yet_valid")
    if signed.valid_before > now + MAX_VALIDITY.total_seconds():
        raise build_rejection(
            sale, "The payment is valid for longer than a day: sign one for a minute.", "valid_too_long"
        )
    amount = payment_network().to_decimal(signed.value)
    wallet = holdings.find_wallet(signed.payer, now=sale.now)
    # The amounts of all tiers, which are known without the chain: a wrong amount costs no request.
    if amount not in sale.possible_amounts(wallet):
        raise build_amount_error(sale, signed)
    payer_terms = read_payer_terms(sale, signed, wallet)
    best = sale.best_terms(signed.payer, payer_terms)
    if best.tier < sale.prices.from_tier:
        raise sale.build_tier_error(best)
    if amount not in sale.acceptable_amounts(signed.payer, payer_terms):
        raise build_amount_error(sale, signed)
    return best.tier, wallet.limited_account.pk if wallet.limited_account else None


def read_payer_terms(sale: Sale, signed: Authorization, wallet: Wallet) -> Terms:
    """Return the payer's terms; while the chain is unavailable the standard terms, if the payment suffices on them."""
    try:
        return holdings.refresh_terms(wallet, now=sale.now)
    except RpcUnavailable:
        is_sold = sale.best_terms(signed.payer, STANDARD).tier >= sale.prices.from_tier
        if is_sold and payment_network().to_decimal(signed.value) in sale.acceptable_amounts(signed.payer, STANDARD):
            return STANDARD
        raise


def build_amount_error(sale: Sale, signed: Authorization) -> PaymentRejected:
    """Return the error for an amount that is not the price for this payer."""
    paid, price = payment_network().to_decimal(signed.value).normalize(), sale.quote.amount.normalize()
    is_other_wallet = sale.caller.is_identified and sale.caller.terms_for(signed.payer) is None
    hint = (
        " You have not proven the wallet that pays, so it is asked for the standard price." if is_other_wallet else ""
    )
    asset = payment_network().asset_name
    return build_rejection(sale, f"The payment is of {paid:f} {asset}, the price is {price:f}.{hint}", "wrong_amount")


def build_rejection(sale: Sale, message: str, reason: str) -> PaymentRejected:
    """Return the error for a payment with which nothing was charged."""
    return sale.build_payment_error(PaymentRejected, f"{message} Nothing was charged.", reason=reason)
