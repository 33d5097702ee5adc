"""Restaurants that are not open, by their status, for staff."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0022_reports_that_say_something_else")]

    operations = [
        migrations.AddIndex(
            model_name="restaurant",
            index=models.Index(fields=["status", "id"], name="restaurant_not_open", condition=~Q(status="open")),
        ),
    ]
