"""How forms and filters call what is true or false."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0007_currencies_stay_while_dishes_are_priced"),
    ]

    operations = [
        migrations.AlterField(
            model_name="menu",
            name="is_published",
            field=models.BooleanField(
                default=False,
                help_text="Orders must follow a published menu; without one they hold any id and have no prices",
                verbose_name="published",
            ),
        ),
        migrations.AlterField(
            model_name="menuitem",
            name="is_available",
            field=models.BooleanField(
                default=True, help_text="Off: not sold for the time being", verbose_name="available"
            ),
        ),
    ]
