"""Open spans that were worked out before stay so: a search for what is open finds it from the first moment."""

from django.db import migrations

CARRY = """
UPDATE catalogue_searchrow AS row SET open_spans = restaurant.open_spans, spans_until = restaurant.spans_until
FROM catalogue_restaurant AS restaurant
WHERE restaurant.id = row.restaurant_id AND restaurant.spans_until IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0019_reviews_remember_their_place")]
    operations = [
        migrations.RunSQL(CARRY, migrations.RunSQL.noop),
        migrations.RemoveField("restaurant", "open_spans"),
        migrations.RemoveField("restaurant", "spans_until"),
    ]
