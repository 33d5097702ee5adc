from django.db import migrations, models

import accounts.models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_accounts")]

    operations = [
        migrations.AlterField(
            model_name="venue",
            name="timezone",
            field=models.CharField(
                default="UTC",
                help_text="IANA name: the wall clock of this venue",
                max_length=64,
                validators=[accounts.models.is_a_zone],
            ),
        ),
    ]
