import django.db.models.functions.comparison
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("accounts", "0016_validate_webhook_scopes")]

    operations = [
        AddIndexConcurrently(
            model_name="webhookdelivery",
            index=models.Index(
                models.F("endpoint"),
                django.db.models.functions.comparison.Coalesce("failed_at", "last_attempt_at", "created_at"),
                condition=models.Q(("state", "failed")),
                name="delivery_failed_of_endpoint",
            ),
        )
    ]
