"""How forms and filters call what is true or false."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0009_webhooks_that_are_slow_or_fail"),
    ]

    operations = [
        migrations.AlterField(
            model_name="venue",
            name="is_sandbox",
            field=models.BooleanField(
                default=False, help_text="For trying out: its keys begin with rk_test_", verbose_name="sandbox"
            ),
        ),
    ]
