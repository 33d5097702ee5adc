"""Revenue is read by the moment in which the money arrived, and has its own page in the back office."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0014_nothing_is_sent_back_twice"),
    ]

    operations = [
        migrations.CreateModel(
            name="Revenue",
            fields=[],
            options={
                "verbose_name": "revenue",
                "verbose_name_plural": "revenue",
                "proxy": True,
                "default_permissions": (),
                "indexes": [],
                "constraints": [],
            },
            bases=("payments.payment",),
        ),
        migrations.AddIndex(
            model_name="payment",
            index=models.Index(
                condition=models.Q(("settled_at__isnull", False)), fields=["settled_at", "id"], name="payment_arrived"
            ),
        ),
    ]
