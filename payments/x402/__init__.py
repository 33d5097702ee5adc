"""How payments are spoken of over HTTP: the seed's way and both versions of x402, on one endpoint.

proofs      what a caller sends       X-Payment, PAYMENT-SIGNATURE
challenges  what a 402 says           x402, PAYMENT-REQUIRED, the body
receipts    what a paid answer says   PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-Receipt
"""

from payments.x402.challenges import (
    CALLER,
    PaymentAlreadyUsed,
    PaymentRejected,
    PaymentRequired,
    TransactionNotFound,
    requirement,
    resource,
)
from payments.x402.proofs import Authorization, InvalidPayment, Proof, Sent, header_of, proof, proof_in
from payments.x402.receipts import Paid, Receipt, deliver, receipt_of

__all__ = [
    "CALLER",
    "Authorization",
    "InvalidPayment",
    "Paid",
    "PaymentAlreadyUsed",
    "PaymentRejected",
    "PaymentRequired",
    "Proof",
    "Receipt",
    "Sent",
    "TransactionNotFound",
    "deliver",
    "header_of",
    "proof",
    "proof_in",
    "receipt_of",
    "requirement",
    "resource",
]
