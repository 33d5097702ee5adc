"""The back office of payments: prices, wallets, the ledger. Importing these modules registers their admins."""

from payments.admin import (
    audits,
    payment_events,
    payments,
    plans,
    products,
    refunds,
    revenue,
    wallets,
)
