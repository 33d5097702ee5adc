import django.contrib.postgres.fields
from django.apps.registry import Apps
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import accounts.models.api_keys

ADDED = ["webhooks:read", "webhooks:write"]
KNOWN = ["orders:read", "orders:write", "menu:write", "reservations:read", "reservations:write", *ADDED]
SCOPES = django.contrib.postgres.fields.ArrayField(
    base_field=models.CharField(
        choices=[
            ("orders:read", "Orders Read"),
            ("orders:write", "Orders Write"),
            ("menu:write", "Menu Write"),
            ("reservations:read", "Reservations Read"),
            ("reservations:write", "Reservations Write"),
            ("webhooks:read", "Webhooks Read"),
            ("webhooks:write", "Webhooks Write"),
        ],
        max_length=20,
    ),
    default=accounts.models.api_keys.default_scopes,
    help_text="Permissions: read or write orders, reservations and webhook endpoints, write menus",
    size=None,
)


def remove_scopes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the scopes from all keys, which the former constraint does not know."""
    for scope in ADDED:
        keys = apps.get_model("accounts", "ApiKey").objects.filter(scopes__contains=[scope])
        keys.update(scopes=models.Func(models.F("scopes"), models.Value(scope), function="array_remove"))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0014_push_device_server_key")]

    operations = [
        migrations.RemoveConstraint(model_name="apikey", name="api_key_scopes_known"),
        migrations.AlterField(model_name="apikey", name="scopes", field=SCOPES),
        migrations.AlterField(model_name="apikeychange", name="scopes", field=SCOPES),
        AddConstraintNotValid(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("scopes__contained_by", KNOWN)), name="api_key_scopes_known"
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, remove_scopes),
    ]
