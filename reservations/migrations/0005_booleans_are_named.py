"""How forms and filters call what is true or false."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reservations", "0004_zones_stay_while_guests_are_expected"),
    ]

    operations = [
        migrations.AlterField(
            model_name="combination",
            name="is_active",
            field=models.BooleanField(default=True, verbose_name="active"),
        ),
        migrations.AlterField(
            model_name="table",
            name="is_active",
            field=models.BooleanField(
                default=True, help_text="Off: not given to new reservations", verbose_name="active"
            ),
        ),
    ]
