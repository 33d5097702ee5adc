from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_venue_zone_exists")]

    operations = [
        migrations.AddConstraint(
            model_name="venue",
            constraint=models.CheckConstraint(
                condition=models.Q(("currency__regex", "^[A-Z]{3}$")),
                name="venue_currency_is_three_capitals",
                violation_error_message="The currency is a code of ISO 4217: EUR.",
            ),
        ),
    ]
