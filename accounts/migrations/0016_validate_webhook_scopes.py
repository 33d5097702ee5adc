from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0015_webhook_scopes")]

    operations = [ValidateConstraint(model_name="apikey", name="api_key_scopes_known")]
