"""A refund says which stretch of a transaction it claims, and what the chain shows of it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0011_payments_are_listed_for_their_payers")]

    operations = [
        migrations.AddField(
            model_name="refund",
            name="beyond_usdc",
            field=models.DecimalField(
                decimal_places=6,
                default=0,
                help_text="What other refunds claim of the same transaction and payer",
                max_digits=78,
                verbose_name="beyond, in USDC",
            ),
        ),
        migrations.AddField(
            model_name="refund",
            name="moved_usdc",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="What the chain shows that the transaction has moved to the payer",
                max_digits=78,
                null=True,
                verbose_name="moved, in USDC",
            ),
        ),
    ]
