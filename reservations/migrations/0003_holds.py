"""Tables can be held before they are reserved, and guests can choose an area."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

import framework.public_ids

# By hand, because Django would check every row at once, and because the database deletes the seatings with the hold.
ADD_HOLD = """
    ALTER TABLE reservations_seating ADD COLUMN hold_id uuid NULL;
    ALTER TABLE reservations_seating ADD CONSTRAINT seating_hold FOREIGN KEY (hold_id)
        REFERENCES reservations_hold (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED NOT VALID;
"""


# By hand, because Django would add the foreign key again. The former release reads seatings through their reservations:
# it does not see those of holds, and the constraint keeps it from their tables.
ALLOW_NO_RESERVATION = [
    """-- squawk-ignore ban-drop-not-null
    ALTER TABLE reservations_seating ALTER COLUMN reservation_id DROP NOT NULL;"""
]


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_webhook_endpoint_postponed_until"),
        ("reservations", "0002_functions_and_triggers"),
    ]

    operations = [
        migrations.AddField(
            model_name="reservation",
            name="area",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                db_index=False,
                help_text="Where the guest wants to sit; only tables of this area are assigned automatically",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="reservations.area",
            ),
        ),
        migrations.CreateModel(
            name="Hold",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "owner",
                    models.CharField(help_text="Who made it, as an opaque text: limits count by it", max_length=64),
                ),
                ("date", models.DateField(help_text="In the venue's time zone")),
                ("time", models.TimeField(help_text="In the venue's time zone")),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("party_size", models.PositiveSmallIntegerField()),
                (
                    "tables",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20), default=list, help_text="Table names", size=None
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                (
                    "area",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="reservations.area",
                    ),
                ),
                (
                    "venue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="holds",
                        to="accounts.venue",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("party_size__range", (1, 500))), name="hold_party_size_in_1_to_500"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("starts_at"))), name="hold_ends_after_it_starts"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("created_at"))),
                        name="hold_expires_after_creation",
                    ),
                ],
                "indexes": [
                    models.Index(fields=["venue", "expires_at"], name="hold_by_venue_expiry"),
                    models.Index(fields=["expires_at"], name="hold_by_expiry"),
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(ALLOW_NO_RESERVATION)],
            state_operations=[
                migrations.AlterField(
                    model_name="seating",
                    name="reservation",
                    field=models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seatings",
                        to="reservations.reservation",
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(ADD_HOLD)],
            state_operations=[
                migrations.AddField(
                    model_name="seating",
                    name="hold",
                    field=models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seatings",
                        to="reservations.hold",
                    ),
                ),
            ],
        ),
        AddConstraintNotValid(
            model_name="seating",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("hold__isnull", True), ("reservation__isnull", False)),
                    models.Q(("hold__isnull", False), ("reservation__isnull", True)),
                    _connector="OR",
                ),
                name="seating_of_reservation_or_hold",
            ),
        ),
    ]
