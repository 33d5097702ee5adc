from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0001_payments"),
    ]

    operations = [
        migrations.AddField(
            model_name="payment",
            name="deed",
            field=models.CharField(
                blank=True, default="", help_text="SHA-256 of what was signed, with its signature", max_length=64
            ),
            preserve_default=False,
        ),
    ]
