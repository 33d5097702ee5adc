"""A venue says where it is, and whether guests may reserve on its page."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0012_people_work_at_venues")]

    operations = [
        migrations.AddField(
            model_name="venue",
            name="address",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Where guests come to", max_length=300
            ),
        ),
        migrations.AddField(
            model_name="venue",
            name="is_bookable_online",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Guests may reserve on the page of this venue",
                verbose_name="bookable online",
            ),
        ),
        migrations.AddField(
            model_name="venue",
            name="phone",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="What guests may call", max_length=40
            ),
        ),
        migrations.AddField(
            model_name="venue",
            name="proves_guests",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="What is booked on that page is kept for 15 minutes, until the guest follows a mailed link",
            ),
        ),
    ]
