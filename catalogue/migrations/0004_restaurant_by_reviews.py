"""An index for the search that names nothing: the most reviewed restaurants of all markets."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0003_restaurant_by_address")]
    operations = [
        migrations.AddIndex(
            model_name="restaurant",
            index=models.Index(fields=["-review_count", "id"], name="restaurant_by_reviews"),
        ),
    ]
