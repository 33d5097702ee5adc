"""Payments say by which method was asked, and are found by who has paid and by what is owed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("payments", "0010_payments_are_found_by_block")]

    operations = [
        migrations.AddField(
            model_name="payment",
            name="method",
            field=models.CharField(
                db_default="GET", default="GET", help_text="By which it was asked for", max_length=10
            ),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(
                    ("state__in", ["claimed", "unknown", "settled", "expired", "refund_due", "refunded"])
                ),
                fields=["payer", "-created_at"],
                name="payment_undelivered_of_payer",
            ),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("state", "refund_due")), fields=["settled_at"], name="payment_owed"
            ),
        ),
        migrations.AddIndex(
            model_name="paymentevent",
            index=models.Index(fields=["payer", "id"], name="event_of_payer"),
        ),
    ]
