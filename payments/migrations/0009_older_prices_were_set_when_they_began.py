"""The prices of before were set in the moment from which they hold: there was no other way."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("payments", "0008_prices_say_who_and_when")]

    operations = [
        migrations.RunSQL("UPDATE payments_price SET created_at = valid_from", migrations.RunSQL.noop),
    ]
