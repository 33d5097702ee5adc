"""Consistency checks of payments. `payments.ledger.chain_audit` compares payments with the chain."""

from datetime import datetime
from functools import partial

from framework.consistency import Checks, query
from framework.public_ids import encode
from payments.models.payments import PREFIX

# The last event of a payment has its state.
EVENTS = """
    SELECT payment.id, concat('state ', payment.state, ', last event ', coalesce(last.after, 'missing'))
    FROM payments_payment AS payment
    LEFT JOIN LATERAL (
        SELECT after FROM payments_paymentevent WHERE payment_id = payment.id ORDER BY id DESC LIMIT 1
    ) AS last ON true
    WHERE last.after IS DISTINCT FROM payment.state
    ORDER BY payment.id
"""
# A payment is refunded if and only if it has a refund.
REFUNDS = """
    SELECT payment.id, CASE WHEN refund.id IS NULL THEN 'state refunded, without a refund'
        ELSE concat('state ', payment.state, ', with a refund') END
    FROM payments_payment AS payment
    LEFT JOIN payments_refund AS refund ON refund.payment_id = payment.id
    WHERE (payment.state = 'refunded') <> (refund.id IS NOT NULL)
    ORDER BY payment.id
"""


def build_checks(now: datetime) -> Checks:
    """Compare the state of payments with their events and refunds."""
    return {
        "payment_event": query("payment_event", EVENTS, subject=partial(encode, PREFIX)),
        "payment_refund": query("payment_refund", REFUNDS, subject=partial(encode, PREFIX)),
    }
