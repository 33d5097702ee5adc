"""A booking may be at no offer, and has an owner."""

import django.db.models.deletion
from django.db import migrations, models

# By hand, because Django would add the foreign key again. The former release shows bookings at offers only.
ALLOW_NO_SLOT = [
    """-- squawk-ignore ban-drop-not-null
    ALTER TABLE catalogue_flowbooking ALTER COLUMN slot_id DROP NOT NULL;"""
]


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0007_streets_and_postal_codes")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(ALLOW_NO_SLOT)],
            state_operations=[
                migrations.AlterField(
                    model_name="flowbooking",
                    name="slot",
                    field=models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="bookings",
                        to="catalogue.flowslot",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="flowbooking",
            name="owner",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Wallet or account that booked it, and may see and change it; empty: the holder of its token only",
                max_length=64,
            ),
        ),
    ]
