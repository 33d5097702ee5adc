"""The HTTP formats of payments: the bare transaction hash and both versions of x402, on one endpoint.

proofs      parses what a caller sends      X-Payment, PAYMENT-SIGNATURE
challenges  writes a 402                    x402, PAYMENT-REQUIRED, the body
receipts    writes a paid answer            PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-Receipt
"""

from payments.x402.challenges import (
    CALLER_HEADERS,
    PaymentAlreadyUsed,
    PaymentRejected,
    PaymentRequired,
    TransactionNotFound,
    build_requirement,
    build_resource,
)
from payments.x402.proofs import (
    Authorization,
    InvalidPayment,
    Proof,
    TransactionProof,
    parse_mcp_proof,
    parse_proof,
    payment_header,
)
from payments.x402.receipts import PaidResponse, Receipt, mark_delivered

__all__ = [
    "CALLER_HEADERS",
    "Authorization",
    "InvalidPayment",
    "PaidResponse",
    "PaymentAlreadyUsed",
    "PaymentRejected",
    "PaymentRequired",
    "Proof",
    "Receipt",
    "TransactionNotFound",
    "TransactionProof",
    "build_requirement",
    "build_resource",
    "mark_delivered",
    "parse_mcp_proof",
    "parse_proof",
    "payment_header",
]
