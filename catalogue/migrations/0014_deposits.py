"""Payments of deposits belong to bookings."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0013_regions_of_markets"),
        ("payments", "0004_wallet_holdings_between_readings"),
    ]

    operations = [
        migrations.CreateModel(
            name="Deposit",
            fields=[
                (
                    "booking",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="deposit",
                        serialize=False,
                        to="catalogue.flowbooking",
                    ),
                ),
                (
                    "payment",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="payments.payment"
                    ),
                ),
            ],
        ),
    ]
