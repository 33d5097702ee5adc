"""Consistency checks of payments. `payments.ledger.chain_audit` compares them with the chain."""

from datetime import datetime
from functools import partial

from framework.consistency import Checks, query
from framework.public_ids import encode
from payments.x402.receipts import PREFIX

# Each change of a payment's state has written an event.
EVENTS = """
    SELECT its.id, concat('it is ', its.state, ', its last event says ', coalesce(last.after, 'nothing'))
    FROM payments_payment AS its
    LEFT JOIN LATERAL (
        SELECT after FROM payments_paymentevent WHERE payment_id = its.id ORDER BY id DESC LIMIT 1
    ) AS last ON true
    WHERE last.after IS DISTINCT FROM its.state
    ORDER BY its.id
"""
# Money that was sent back has its row.
REFUNDS = """
    SELECT its.id, CASE WHEN refund.id IS NULL THEN 'it is refunded, and no refund is noted'
        ELSE concat('it is ', its.state, ', and a refund is noted') END
    FROM payments_payment AS its
    LEFT JOIN payments_refund AS refund ON refund.payment_id = its.id
    WHERE (its.state = 'refunded') <> (refund.id IS NOT NULL)
    ORDER BY its.id
"""


def checks(now: datetime) -> Checks:
    """Payments are in the state that their events and refunds say."""
    del now
    return {
        "payment_event": query("payment_event", EVENTS, subject=partial(encode, PREFIX)),
        "payment_refund": query("payment_refund", REFUNDS, subject=partial(encode, PREFIX)),
    }
