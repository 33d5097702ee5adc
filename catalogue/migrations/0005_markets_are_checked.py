"""A market's zone, codes, centre and radius are what they say."""

from django.db import migrations, models

import config.api.zones


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0004_restaurant_by_reviews")]
    operations = [
        migrations.AlterField(
            model_name="market",
            name="timezone",
            field=models.CharField(help_text="IANA name", max_length=64, validators=[config.api.zones.is_a_zone]),
        ),
        migrations.AddConstraint(
            model_name="market",
            constraint=models.CheckConstraint(
                condition=models.Q(("country__regex", "^[A-Z]{2}$")),
                name="market_country_is_two_capitals",
                violation_error_message="The country is a code of ISO 3166-1: DK.",
            ),
        ),
        migrations.AddConstraint(
            model_name="market",
            constraint=models.CheckConstraint(
                condition=models.Q(("currency__regex", "^[A-Z]{3}$")),
                name="market_currency_is_three_capitals",
                violation_error_message="The currency is a code of ISO 4217: DKK.",
            ),
        ),
        migrations.AddConstraint(
            model_name="market",
            constraint=models.CheckConstraint(
                condition=models.Q(("calling_code__regex", "^[1-9][0-9]{0,3}$")),
                name="market_calling_code_is_digits",
                violation_error_message="The calling code is the digits after the plus: 45.",
            ),
        ),
        migrations.AddConstraint(
            model_name="market",
            constraint=models.CheckConstraint(
                condition=models.Q(("latitude__range", (-85, 85)), ("longitude__range", (-180, 180))),
                name="market_on_earth",
                violation_error_message="The centre lies within 85 degrees of latitude and 180 of longitude.",
            ),
        ),
        migrations.AddConstraint(
            model_name="market",
            constraint=models.CheckConstraint(
                condition=models.Q(("radius_m__range", (1, 500000))),
                name="market_radius_in_1_m_to_500_km",
                violation_error_message="The radius is 1 to 500,000 metres.",
            ),
        ),
    ]
