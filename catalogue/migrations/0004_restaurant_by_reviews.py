"""Indexes for the searches that name nothing: the most reviewed restaurants, and the best rated."""

from django.db import migrations, models
from django.db.models import F, Func

TENTHS = Func("rating", template="(coalesce(%(expressions)s, 0) * 10)::integer", output_field=models.IntegerField())


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0003_restaurant_by_address")]
    operations = [
        migrations.AddIndex(
            model_name="restaurant",
            index=models.Index(fields=["-review_count", "id"], name="restaurant_by_reviews"),
        ),
        migrations.AddIndex(
            model_name="restaurant",
            index=models.Index(TENTHS.desc(), F("review_count").desc(), "id", name="restaurant_by_rating"),
        ),
        migrations.AddIndex(
            model_name="restaurant",
            index=models.Index(
                "market", TENTHS.desc(), F("review_count").desc(), "id", name="restaurant_by_market_rating"
            ),
        ),
    ]
