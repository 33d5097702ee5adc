"""Indexes of the filters of the list of orders."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0004_order_stages")]

    operations = [
        AddIndexConcurrently("order", models.Index(fields=["venue", "updated_at"], name="order_last_updated")),
        AddIndexConcurrently(
            "order",
            models.Index(fields=["venue", "customer_id", "-created_at", "-id"], name="order_newest_of_customer"),
        ),
    ]
