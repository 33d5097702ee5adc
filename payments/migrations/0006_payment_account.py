"""Store the account that a payment was made for, and when a refused one was mailed. Earlier payments have no account."""

from django.db import migrations, models

from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [("payments", "0005_billing")]

    operations = [
        migrations.AddField(
            "payment", "account_id", models.UUIDField("account", blank=True, editable=False, null=True)
        ),
        migrations.AddField(
            "billing",
            "refusal_alerted_month",
            models.DateField(
                blank=True, help_text="The first day of the month of the last email about a refused payment", null=True
            ),
        ),
        run_sql_files("payments", "set_payment_account"),
    ]
