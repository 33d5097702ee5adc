"""The groups of our own staff; what each may do stands in accounts/staff_roles.py."""

from typing import Any

from django.db import migrations

ROLES = ("Data editor", "Finance", "Support")


def make(apps: Any, schema_editor: Any) -> None:
    """Add those that are not there."""
    groups = apps.get_model("auth", "Group").objects
    for name in ROLES:
        groups.get_or_create(name=name)


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("accounts", "0017_calls_are_found_by_key"),
    ]

    operations = [migrations.RunPython(make, migrations.RunPython.noop)]
