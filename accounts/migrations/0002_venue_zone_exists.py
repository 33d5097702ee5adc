from django.db import migrations, models

import config.api.zones


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
                validators=[config.api.zones.is_a_zone],
            ),
        ),
    ]
