"""Why an order was cancelled, for the venue's people alone."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("orders", "0008_booleans_are_named")]

    operations = [
        migrations.AddField(
            model_name="order",
            name="cancelled_because",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="For the venue's people alone", max_length=300
            ),
        ),
        migrations.AddConstraint(
            model_name="order",
            constraint=models.CheckConstraint(
                condition=models.Q(("status", "cancelled"), ("cancelled_because", ""), _connector="OR"),
                name="order_tells_why_it_is_cancelled_only_then",
            ),
        ),
    ]
