"""What a transaction has sent back counts for as many refunds as it has paid, and no more."""

import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
from django.db import migrations, models
from django.db.models import F


class Migration(migrations.Migration):
    dependencies = [("payments", "0013_refunds_of_one_transaction_stand_in_a_row")]

    operations = [
        migrations.AddIndex(
            model_name="refund",
            index=models.Index(
                condition=models.Q(("confirmed_at", None)), fields=["created_at"], name="refund_unconfirmed"
            ),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("beyond_usdc__gte", 0),
                    models.Q(
                        ("moved_usdc", None),
                        ("moved_usdc__gte", F("beyond_usdc") + F("amount_usdc")),
                        _connector="OR",
                    ),
                ),
                name="refunds_claim_no_more_than_was_moved",
            ),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=models.CheckConstraint(
                condition=models.Q(("confirmed_at", None), ("moved_usdc__isnull", False), _connector="OR"),
                name="a_confirmed_refund_was_moved",
            ),
        ),
        migrations.AddConstraint(
            model_name="refund",
            constraint=django.contrib.postgres.constraints.ExclusionConstraint(
                expressions=[
                    ("tx_hash", "="),
                    ("to", "="),
                    (
                        models.Func(
                            "beyond_usdc",
                            F("beyond_usdc") + F("amount_usdc"),
                            function="NUMRANGE",
                            output_field=django.contrib.postgres.fields.ranges.DecimalRangeField(),
                        ),
                        "&&",
                    ),
                ],
                name="nothing_that_was_moved_is_claimed_twice",
            ),
        ),
    ]
