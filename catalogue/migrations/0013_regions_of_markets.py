"""The regions whose public holidays our own markets have, as in catalogue/data/markets.csv."""

from django.db import migrations

SET_REGIONS = """
UPDATE catalogue_market AS market SET region = own.region
FROM (VALUES ('london', 'GB', 'ENG'), ('berlin', 'DE', 'BE'), ('milan', 'IT', 'MI'), ('barcelona', 'ES', 'CT'),
    ('new-york', 'US', 'NY'), ('san-francisco', 'US', 'CA'), ('sydney', 'AU', 'NSW')) AS own (slug, country, region)
WHERE market.slug = own.slug AND market.country = own.country AND market.region = ''
"""


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0012_market_regions_and_neighborhood_changes"),
    ]

    operations = [
        migrations.RunSQL(SET_REGIONS, migrations.RunSQL.noop),
    ]
