"""Payments of orders in USDC."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0012_usdc_price_and_pauses")]

    operations = [
        migrations.AddField(
            model_name="order",
            name="payment_state",
            field=models.CharField(
                blank=True,
                choices=[("due", "Due"), ("paid", "Paid"), ("refund_due", "Refund Due"), ("refunded", "Refunded")],
                db_default="",
                default="",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="order",
            name="usdc_amount",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="What it costs the guest in USDC; empty where it cannot be paid so",
                max_digits=18,
                null=True,
                verbose_name="amount in USDC",
            ),
        ),
        migrations.AddField(
            model_name="order",
            name="usdc_payment",
            field=models.UUIDField(
                blank=True, help_text="The payment of the ledger that has paid it", null=True, verbose_name="payment"
            ),
        ),
        AddConstraintNotValid(
            model_name="order",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("payment_state", ""), ("usdc_payment__isnull", True)),
                    models.Q(("payment_state", "due"), ("usdc_amount__isnull", False), ("usdc_payment__isnull", True)),
                    models.Q(
                        ("payment_state__in", ["paid", "refund_due", "refunded"]),
                        ("usdc_amount__isnull", False),
                        ("usdc_payment__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="order_payment_state_matches_payment",
            ),
        ),
    ]
