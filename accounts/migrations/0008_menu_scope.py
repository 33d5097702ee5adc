import django.contrib.postgres.fields
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import accounts.models.api_keys

BEFORE = ["orders:read", "orders:write", "reservations:read", "reservations:write"]
SCOPES = django.contrib.postgres.fields.ArrayField(
    base_field=models.CharField(
        choices=[
            ("orders:read", "Orders Read"),
            ("orders:write", "Orders Write"),
            ("menu:write", "Menu Write"),
            ("reservations:read", "Reservations Read"),
            ("reservations:write", "Reservations Write"),
        ],
        max_length=20,
    ),
    default=accounts.models.api_keys.all_scopes,
    help_text="Permissions: read or write orders and reservations, write menus",
    size=None,
)


def extend_full_keys(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give the new scope to the keys that have all others: a key has every scope unless it was created with fewer."""
    keys = apps.get_model("accounts", "ApiKey").objects.filter(scopes__contains=BEFORE)
    keys.update(scopes=[*BEFORE[:2], "menu:write", *BEFORE[2:]])


def remove_scope(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Take the scope from all keys, which the former constraint does not know."""
    keys = apps.get_model("accounts", "ApiKey").objects.filter(scopes__contains=["menu:write"])
    remove = models.Func(models.F("scopes"), models.Value("menu:write"), function="array_remove")
    keys.update(scopes=remove)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_menu_events")]

    operations = [
        migrations.RemoveConstraint(model_name="apikey", name="api_key_scopes_known"),
        migrations.AlterField(model_name="apikey", name="scopes", field=SCOPES),
        migrations.AlterField(model_name="apikeychange", name="scopes", field=SCOPES),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("scopes__contained_by", [*BEFORE[:2], "menu:write", *BEFORE[2:]])),
                name="api_key_scopes_known",
            ),
        ),
        migrations.RunPython(extend_full_keys, remove_scope),
    ]
