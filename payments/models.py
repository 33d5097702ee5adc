"""What is sold and for how much, who pays, and the ledger."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from accounts.models import Account
from config.api.ids import new_id
from payments.tiers import TIERS

TIER_CHOICES = [(name, name.capitalize()) for name in TIERS]


def shortened(address: str) -> str:
    """An address as people tell it apart: 0x1234…abcd."""
    return f"{address[:6]}…{address[-4:]}"


class Product(models.Model):
    """Something that is sold per call: a group of fields of a restaurant."""

    slug = models.SlugField(primary_key=True, max_length=40)
    name = models.CharField(max_length=80)
    description = models.CharField(max_length=200)
    from_tier = models.CharField(
        max_length=20, choices=TIER_CHOICES, default="free", help_text="The lowest tier that it is sold to"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(name="product_from_a_known_tier", condition=Q(from_tier__in=list(TIERS))),
        ]

    def __str__(self) -> str:
        return self.name


class Price(models.Model):
    """What a product costs from a moment on, at one of the seed's rates. Rows stay: they are the history."""

    class Rate(models.TextChoices):
        STANDARD = "standard", "Standard (Free, and who has not proven a wallet)"
        DISCOUNTED = "discounted", "Discounted (Pro)"
        BEST = "best", "Best (Premium)"
        COMMITTED = "committed", "Committed (Enterprise)"

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="prices")
    rate = models.CharField(max_length=20, choices=Rate)
    amount_usdc = models.DecimalField("amount in USDC", max_digits=20, decimal_places=6)
    valid_from = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="price_is_positive",
                condition=Q(amount_usdc__gt=0),
                violation_error_message="A price is above zero; what is free is no product.",
            ),
            models.CheckConstraint(
                name="price_rate_is_known", condition=Q(rate__in=["standard", "discounted", "best", "committed"])
            ),
            models.UniqueConstraint(
                fields=["product", "rate", "valid_from"], name="one_price_of_a_product_and_rate_at_a_moment"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.product_id}, {self.rate}: {self.amount_usdc} USDC"


class Wallet(models.Model):
    """An address that has proven itself or paid, and what was last read of its holdings."""

    address = models.CharField(primary_key=True, max_length=42, help_text="In small letters")
    account = models.ForeignKey(Account, on_delete=models.SET_NULL, null=True, blank=True, related_name="wallets")
    tier = models.CharField(max_length=20, choices=TIER_CHOICES, default="free")
    holdings_usd = models.DecimalField("holdings in USD", max_digits=30, decimal_places=6, default=0)
    staked = models.DecimalField("staked, in whole tokens", max_digits=60, decimal_places=18, default=0)
    read_at = models.DateTimeField("read from the chain at", null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="wallet_address_is_one", condition=Q(address__regex="^0x[0-9a-f]{40}$")),
            models.CheckConstraint(name="wallet_of_a_known_tier", condition=Q(tier__in=list(TIERS))),
        ]

    def __str__(self) -> str:
        return self.address


class WalletSession(models.Model):
    """A wallet that has signed our challenge, for a while. Of the token only the digest is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    wallet = models.ForeignKey(Wallet, on_delete=models.CASCADE, related_name="sessions")
    nonce = models.CharField(max_length=64, help_text="Of the challenge that was signed; each is good once")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["nonce"], name="a_challenge_opens_one_session")]

    def __str__(self) -> str:
        return f"{shortened(self.wallet_id)} until {self.expires_at:%Y-%m-%d %H:%M}"


class Payment(models.Model):
    """One line of the ledger: one proof of payment, and the one purchase that it pays for.

    A row is written before anything is settled. `proof_key` is `3009:{asset}:{payer}:{nonce}` or `tx:{hash}:{log}`;
    `purchase` is the SHA-256 of what was asked for. Amounts are in whole USDC.
    """

    class Form(models.TextChoices):
        V2 = "v2", "x402 version 2"
        V1 = "v1", "x402 version 1"
        TX = "tx", "Transaction hash"

    class State(models.TextChoices):
        CLAIMED = "claimed", "Claimed: being settled"
        UNKNOWN = "unknown", "Unknown: sent, outcome not known"
        SETTLED = "settled", "Settled"
        DELIVERED = "delivered", "Delivered"
        EXPIRED = "expired", "Expired unsettled"
        REFUND_DUE = "refund_due", "Refund due"
        REFUNDED = "refunded", "Refunded"

    # States in which the money has arrived.
    PAID: ClassVar[tuple[str, ...]] = (State.SETTLED, State.DELIVERED, State.REFUND_DUE, State.REFUNDED)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    form = models.CharField(max_length=2, choices=Form)
    state = models.CharField(max_length=20, choices=State)
    network = models.CharField(max_length=40, help_text="CAIP-2")
    asset = models.CharField(max_length=42)
    payer = models.CharField(max_length=42)
    pay_to = models.CharField(max_length=42)
    # As many digits as the token has: what has arrived must not be too much to be written down.
    amount_usdc = models.DecimalField("amount in USDC", max_digits=78, decimal_places=6)
    proof_key = models.CharField(max_length=200)
    deed = models.CharField(max_length=64, blank=True, help_text="SHA-256 of what was signed, with its signature")
    purchase = models.CharField(max_length=64)
    resource = models.TextField(help_text="What was asked for, as an address")
    products = ArrayField(models.CharField(max_length=40))
    tier = models.CharField(max_length=20, choices=TIER_CHOICES, help_text="Of the payer when paying")
    valid_before = models.DateTimeField(null=True, blank=True)
    tx_hash = models.CharField("transaction", max_length=66, null=True, blank=True)
    log_index = models.PositiveIntegerField(null=True, blank=True)
    block = models.BigIntegerField(null=True, blank=True)
    facilitator = models.CharField(max_length=200, blank=True)
    error = models.CharField(max_length=500, blank=True)
    looked_at = models.DateTimeField(
        null=True, blank=True, help_text="When the chain was last asked again about an end that was written down"
    )
    attempts = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField()
    claimed_at = models.DateTimeField(help_text="When somebody last set out to settle it")
    settled_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    refunded_at = models.DateTimeField(null=True, blank=True)
    refund_tx_hash = models.CharField("refund transaction", max_length=66, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["network", "proof_key"], name="a_proof_pays_once"),
            models.CheckConstraint(
                name="payment_state_is_known",
                condition=Q(
                    state__in=["claimed", "unknown", "settled", "delivered", "expired", "refund_due", "refunded"]
                ),
            ),
            models.CheckConstraint(name="payment_is_positive", condition=Q(amount_usdc__gt=0)),
            models.CheckConstraint(
                name="money_that_arrived_has_its_transaction",
                condition=~Q(state__in=["settled", "delivered", "refund_due", "refunded"])
                | Q(tx_hash__isnull=False, settled_at__isnull=False),
            ),
            models.CheckConstraint(
                name="a_refund_names_its_moment", condition=~Q(state="refunded") | Q(refunded_at__isnull=False)
            ),
        ]
        indexes = [
            models.Index(fields=["claimed_at"], condition=Q(state__in=["claimed", "unknown"]), name="payment_open"),
            models.Index(fields=["created_at"], condition=Q(state="expired"), name="payment_given_up"),
            models.Index(
                fields=["settled_at"],
                condition=Q(state__in=["settled", "delivered"], block__isnull=True),
                name="payment_unconfirmed",
            ),
            models.Index(fields=["payer", "-created_at"], name="payment_newest_of_payer"),
            models.Index(fields=["tx_hash"], name="payment_by_transaction"),
        ]

    def __str__(self) -> str:
        return f"{self.amount_usdc.normalize():f} USDC by {shortened(self.payer)}"
