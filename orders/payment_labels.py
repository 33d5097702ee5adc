"""The payment labels of orders as staff read them."""

from django.utils.text import capfirst
from django.utils.translation import pgettext_lazy

# The well-known labels of the contract; venues may have labels of their own.
LABELS = {
    "cash": pgettext_lazy("payment", "Cash"),
    "card": pgettext_lazy("payment", "Card"),
    "credit_card": pgettext_lazy("payment", "Credit card"),
    "debit_card": pgettext_lazy("payment", "Debit card"),
    "online": pgettext_lazy("payment", "Online"),
    "wallet": pgettext_lazy("payment", "Wallet"),
    "bank_transfer": pgettext_lazy("payment", "Bank transfer"),
    "voucher": pgettext_lazy("payment", "Voucher"),
    "usdc": pgettext_lazy("payment", "USDC"),
}


def format_payment_label(label: str) -> str:
    """Write a label in the current language; one of the venue's own with spaces and a capital letter."""
    return str(LABELS.get(label) or capfirst(label.replace("_", " ")))
