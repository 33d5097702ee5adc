"""Models of payments: products and prices, wallets and plans, the ledger, and its audits."""

# mypy: implicit-reexport

from payments.models.billing import Billing, Invoice
from payments.models.choices import TIER_CHOICES, shorten_address
from payments.models.payments import Audit, Payment, PaymentEvent, Receiver, Refund, Revenue
from payments.models.products import Price, Product
from payments.models.wallets import HoldingSnapshot, Plan, SpentChallenge, TierTerms, Wallet, WalletSession
