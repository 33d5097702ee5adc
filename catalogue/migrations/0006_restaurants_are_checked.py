"""A restaurant's location is whole, its country a code; its attributes and ids are objects."""

import django.db.models.lookups
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0005_markets_are_checked")]
    operations = [
        migrations.RemoveConstraint(
            model_name="restaurant",
            name="restaurant_location_whole_and_on_earth",
        ),
        migrations.AddConstraint(
            model_name="restaurant",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("latitude__isnull", True), ("longitude__isnull", True)),
                    models.Q(
                        ("latitude__isnull", False),
                        ("latitude__range", (-85, 85)),
                        ("longitude__isnull", False),
                        ("longitude__range", (-180, 180)),
                    ),
                    _connector="OR",
                ),
                name="restaurant_location_whole_and_on_earth",
                violation_error_message="A location is a latitude within 85 degrees and a longitude within 180, or neither.",
            ),
        ),
        migrations.AddConstraint(
            model_name="restaurant",
            constraint=models.CheckConstraint(
                condition=models.Q(("country__regex", "^[A-Z]{2}$")),
                name="restaurant_country_is_two_capitals",
                violation_error_message="The country is a code of ISO 3166-1: DK.",
            ),
        ),
        migrations.AddConstraint(
            model_name="restaurant",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    models.Func("attributes", function="jsonb_typeof", output_field=models.TextField()),
                    models.Value("object"),
                ),
                name="restaurant_attributes_are_an_object",
            ),
        ),
        migrations.AddConstraint(
            model_name="restaurant",
            constraint=models.CheckConstraint(
                condition=django.db.models.lookups.Exact(
                    models.Func("external_ids", function="jsonb_typeof", output_field=models.TextField()),
                    models.Value("object"),
                ),
                name="restaurant_external_ids_are_an_object",
            ),
        ),
    ]
