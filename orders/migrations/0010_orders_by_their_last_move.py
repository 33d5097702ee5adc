"""Indexes for the order board: what was completed and what was cancelled today."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0009_cancelled_orders_may_say_why")]

    operations = [
        migrations.AddIndex(
            model_name="order",
            index=models.Index(
                fields=["venue", "-completed_at", "-id"],
                condition=models.Q(("completed_at__isnull", False)),
                name="order_last_completed",
            ),
        ),
        migrations.AddIndex(
            model_name="order",
            index=models.Index(
                fields=["venue", "-cancelled_at", "-id"],
                condition=models.Q(("cancelled_at__isnull", False)),
                name="order_last_cancelled",
            ),
        ),
    ]
