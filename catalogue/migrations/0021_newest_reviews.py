"""The newest reviews of all restaurants are read by an index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("catalogue", "0020_restaurant_website_index")]

    operations = [
        AddIndexConcurrently(
            model_name="review",
            index=models.Index(fields=["created_at"], name="review_newest"),
        ),
    ]
