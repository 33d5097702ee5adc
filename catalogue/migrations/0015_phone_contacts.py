"""Bookings have the hash of a number that stands beside an email address."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0014_deposits")]

    operations = [
        migrations.AddField(
            model_name="flowbooking",
            name="phone_contact",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Hash of the number beside an email address; limits count it too",
                max_length=64,
            ),
        ),
        migrations.AlterField(
            model_name="flowbooking",
            name="contact",
            field=models.CharField(
                help_text="Hash of the guest's email address, or without one of the number; limits count it",
                max_length=64,
            ),
        ),
    ]
