"""The ledger of payments, refunds and its audit."""
