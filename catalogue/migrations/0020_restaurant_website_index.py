"""The restaurants whose websites are at one host are found by an index."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("catalogue", "0019_claim_proofs")]

    operations = [
        AddIndexConcurrently(
            model_name="restaurant",
            index=models.Index(
                condition=models.Q(("website__isnull", False)),
                fields=["website"],
                name="restaurant_by_website",
                opclasses=["varchar_pattern_ops"],
            ),
        ),
    ]
