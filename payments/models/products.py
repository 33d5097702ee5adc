"""Products and their prices."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from payments.models.choices import TIER_CHOICES
from payments.tiers.definitions import TIERS


class Product(models.Model):
    """A group of fields of a restaurant that is sold per call."""

    slug = models.SlugField(primary_key=True, max_length=40)
    name = models.CharField(max_length=80)
    description = models.CharField(max_length=200)
    from_tier = models.CharField(max_length=20, choices=TIER_CHOICES, default="free", help_text="Minimum tier")

    class Meta:
        constraints = [
            models.CheckConstraint(name="product_from_a_known_tier", condition=Q(from_tier__in=list(TIERS))),
        ]

    def __str__(self) -> str:
        return self.name


class Price(models.Model):
    """The price of a product at one rate from `valid_from` on. Rows are never changed: they are the price history.

    A price without an amount ends the sale of the product at this rate.
    """

    class Rate(models.TextChoices):
        STANDARD = "standard", "Standard (Free, and clients without a wallet)"
        DISCOUNTED = "discounted", "Discounted (Pro)"
        BEST = "best", "Best (Premium)"
        COMMITTED = "committed", "Committed (Enterprise)"

    product = models.ForeignKey(Product, on_delete=models.CASCADE, related_name="prices")
    rate = models.CharField(max_length=20, choices=Rate)
    amount_usdc = models.DecimalField(
        "amount in USDC", max_digits=20, decimal_places=6, null=True, blank=True, help_text="Empty: not for sale"
    )
    valid_from = models.DateTimeField("valid from (UTC)")
    by = models.CharField("set by", max_length=80, default="system", help_text="User who set the price")
    created_at = models.DateTimeField("set at", default=timezone.now)

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
        amount = "not sold" if self.amount_usdc is None else f"{self.amount_usdc.normalize():f} USDC"
        return f"{self.product_id}, {self.rate}: {amount}"
