"""Confirms a facilitator's success on the chain, by our own node, before the answer is served."""

import logging
import time

from django.conf import settings

from framework.resilience.deadline import limit_timeout
from payments.chain import reads
from payments.chain.reads import NotAPayment, Transfer
from payments.chain.rpc import RpcUnavailable
from payments.ledger import reconcile
from payments.models import Payment

logger = logging.getLogger("tablewire.payments")

# Our node may see the block of the settlement later than the facilitator's node.
WAIT_S = 2.0
POLL_INTERVAL_S = 0.1
# Reserved for recording the outcome.
RESERVED_S = 0.5


class NotConfirmed(Exception):
    """The chain does not show the settlement yet, or shows something else; the message says what."""


def await_settlement(payment: Payment, *, tx_hash: str) -> Transfer | None:
    """Return the transfer by which this transaction settled the payment, once PAYMENT_CONFIRMATIONS blocks show it.

    None where the facilitator's word is enough: without confirmations, and with one while our node cannot be asked.
    One request to the node if it knows the block already, and one each POLL_INTERVAL_S for WAIT_S otherwise. Raises
    NotConfirmed.
    """
    if settings.PAYMENT_CONFIRMATIONS == 0:
        return None
    until = time.monotonic() + limit_timeout(WAIT_S, reserve_s=RESERVED_S)
    while True:
        try:
            transfer = reads.find_settlement(
                tx_hash, payer=payment.payer, nonce=reconcile.nonce_of(payment), receivers={payment.pay_to}
            )
        except NotAPayment as error:
            logger.error("the facilitator %s says that %s is settled: %s", payment.facilitator, payment.pk, error)
            raise NotConfirmed(str(error)) from error
        except RpcUnavailable as error:
            if settings.PAYMENT_CONFIRMATIONS > 1:
                raise NotConfirmed(error.message) from error
            logger.warning("payment %s is served by the facilitator's word: the chain cannot be read", payment.pk)
            return None
        if transfer is not None:
            return transfer
        if time.monotonic() > until:
            raise NotConfirmed("The facilitator says that it is settled; the chain does not show it yet.")
        time.sleep(POLL_INTERVAL_S)
