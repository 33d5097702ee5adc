"""The back office of payments: prices, wallets, the ledger."""

from payments.admin.audits import AuditAdmin
from payments.admin.payment_events import PaymentEventAdmin
from payments.admin.payments import PaymentAdmin
from payments.admin.plans import PlanAdmin
from payments.admin.products import PriceAdmin, ProductAdmin
from payments.admin.refunds import RefundAdmin
from payments.admin.revenue import RevenueAdmin
from payments.admin.tiers import TierTermsAdmin
from payments.admin.wallets import WalletAdmin, WalletSessionAdmin

__all__ = [
    "AuditAdmin",
    "PaymentAdmin",
    "PaymentEventAdmin",
    "PlanAdmin",
    "PriceAdmin",
    "ProductAdmin",
    "RefundAdmin",
    "RevenueAdmin",
    "TierTermsAdmin",
    "WalletAdmin",
    "WalletSessionAdmin",
]
