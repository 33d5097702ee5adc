"""A plan's price factor may be 0: what its tier is sold is given."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("payments", "0019_payments_come_through_a_door"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="plan", name="plan_price_factor_is_positive"),
        migrations.AlterField(
            model_name="plan",
            name="price_factor",
            field=models.DecimalField(
                decimal_places=4,
                default=1,
                help_text="Times the prices of the tier's rate: 0.8 is a fifth off; at 0 all that the tier is sold"
                " is given",
                max_digits=5,
            ),
        ),
        migrations.AddConstraint(
            model_name="plan",
            constraint=models.CheckConstraint(
                condition=models.Q(("price_factor__gte", 0)),
                name="plan_price_factor_is_not_below_zero",
                violation_error_message="A price factor is not below zero.",
            ),
        ),
    ]
