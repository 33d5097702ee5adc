"""Payments are found that were never delivered, or in any state never seen on the chain."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0016_what_a_payment_says_is_told")]

    operations = [
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                fields=["settled_at"],
                condition=models.Q(
                    ("block__isnull", True), ("state__in", ["settled", "delivered", "refund_due", "refunded"])
                ),
                name="payment_unseen",
            ),
        ),
        migrations.RemoveIndex(model_name="payment", name="payment_unconfirmed"),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                fields=["settled_at"],
                condition=models.Q(("delivered_at__isnull", True), ("state", "settled")),
                name="payment_undelivered",
            ),
        ),
    ]
