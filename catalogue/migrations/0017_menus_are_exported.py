"""Menus are a dataset of exports."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0016_phone_contact_index"),
    ]

    operations = [
        migrations.AlterField(
            model_name="export",
            name="dataset",
            field=models.CharField(
                choices=[
                    ("restaurants", "Restaurants"),
                    ("reviews", "Reviews"),
                    ("photos", "Photos"),
                    ("landmarks", "Landmarks"),
                    ("history", "History"),
                    ("menus", "Menus"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="removal",
            name="dataset",
            field=models.CharField(
                choices=[
                    ("restaurants", "Restaurants"),
                    ("reviews", "Reviews"),
                    ("photos", "Photos"),
                    ("landmarks", "Landmarks"),
                    ("history", "History"),
                    ("menus", "Menus"),
                ],
                max_length=20,
            ),
        ),
    ]
