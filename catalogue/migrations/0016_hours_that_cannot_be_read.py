"""Opening hours that nobody could read, or not all of: what staff look for among all restaurants."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0015_ranks_move_ahead_of_time")]
    operations = [
        migrations.AddIndex(
            model_name="restaurant",
            index=models.Index(
                fields=["id"],
                name="restaurant_with_unread_hours",
                condition=Q(hours__contains={"known": False}) | Q(hours__has_key="notes"),
            ),
        ),
    ]
