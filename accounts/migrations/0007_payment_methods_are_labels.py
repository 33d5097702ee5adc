import django.contrib.postgres.fields
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_records_can_be_counted"),
    ]

    operations = [
        migrations.AlterField(
            model_name="venue",
            name="payment_methods",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    max_length=40,
                    validators=[
                        django.core.validators.RegexValidator(
                            "^[a-z][a-z0-9_-]{0,39}$",
                            "A label has small letters, digits, _ and -, and begins with a letter: card.",
                        )
                    ],
                ),
                blank=True,
                default=list,
                help_text="Labels that orders may carry, separated by commas; empty: any",
                size=None,
            ),
        ),
    ]
