"""The index of the retention of contacts."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("orders", "0007_modifiers_on_one_menu")]

    operations = [
        AddIndexConcurrently(
            "order",
            models.Index(
                fields=["created_at"],
                name="order_with_contact",
                condition=~models.Q(contact_name="", contact_phone="", contact_email=""),
            ),
        ),
    ]
