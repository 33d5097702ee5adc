"""How forms and filters call what is true or false."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0023_restaurants_not_open"),
    ]

    operations = [
        migrations.AlterField(
            model_name="holiday",
            name="is_struck",
            field=models.BooleanField(
                default=False, help_text="Not kept here, whatever the calendars say", verbose_name="struck"
            ),
        ),
        migrations.AlterField(
            model_name="listing",
            name="is_active",
            field=models.BooleanField(
                default=True, help_text="Whether offers are shown and booked", verbose_name="active"
            ),
        ),
        migrations.AlterField(
            model_name="photo",
            name="is_hidden",
            field=models.BooleanField(default=False, help_text="Not shown", verbose_name="hidden"),
        ),
    ]
