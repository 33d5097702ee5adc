"""Models of payments: products and prices, wallets and plans, the ledger, and its audits."""

# mypy: implicit-reexport
# ruff: noqa: F401

from payments.models.audits import Audit
from payments.models.choices import TIER_CHOICES, shorten_address
from payments.models.payments import Payment, PaymentEvent, Refund
from payments.models.products import Price, Product
from payments.models.revenue import Revenue
from payments.models.wallets import HoldingSnapshot, Plan, SpentChallenge, TierTerms, Wallet, WalletSession
