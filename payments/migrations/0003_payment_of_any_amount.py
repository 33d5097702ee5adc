from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0002_payment_deed"),
    ]

    operations = [
        migrations.AlterField(
            model_name="payment",
            name="amount_usdc",
            field=models.DecimalField(decimal_places=6, max_digits=78, verbose_name="amount in USDC"),
        ),
    ]
