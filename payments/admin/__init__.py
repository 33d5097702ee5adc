"""The back office of payments: prices, wallets, the ledger."""

from payments.admin.ledger import PaymentAdmin
from payments.admin.products import PriceAdmin, ProductAdmin
from payments.admin.revenue import RevenueAdmin
from payments.admin.wallets import WalletAdmin, WalletSessionAdmin

__all__ = ["PaymentAdmin", "PriceAdmin", "ProductAdmin", "RevenueAdmin", "WalletAdmin", "WalletSessionAdmin"]
