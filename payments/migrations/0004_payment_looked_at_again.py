from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0003_payment_of_any_amount"),
    ]

    operations = [
        migrations.AddField(
            model_name="payment",
            name="looked_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When the chain was last asked again about an end that was written down",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("state", "expired")), fields=["created_at"], name="payment_given_up"
            ),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("block__isnull", True), ("state__in", ["settled", "delivered"])),
                fields=["settled_at"],
                name="payment_unconfirmed",
            ),
        ),
    ]
