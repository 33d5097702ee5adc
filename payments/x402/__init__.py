"""The HTTP formats of payments: the bare transaction hash and both versions of x402, on one endpoint.

proofs         parses what a caller sends      X-Payment, PAYMENT-SIGNATURE
challenges     writes a 402                    x402, PAYMENT-REQUIRED, the body
receipts       writes a paid answer            PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, X-Receipt, Receipt-Statement
offer_receipt  signs offers, receipts and statements, by the keys of signing_keys
"""
