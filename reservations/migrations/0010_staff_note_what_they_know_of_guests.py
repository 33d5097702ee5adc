"""Notes on guests, the contacts by which each is known, and who was merged into whom."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0013_guests_book_on_a_page_of_the_venue"),
        ("reservations", "0009_parties_walk_in_and_guests_are_erased"),
    ]

    operations = [
        migrations.CreateModel(
            name="Visitor",
            fields=[
                (
                    "id",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("note", models.TextField(blank=True, default="", max_length=2000)),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=30),
                        blank=True,
                        default=list,
                        help_text="Allergies, regular, VIP",
                        size=None,
                    ),
                ),
                ("updated_at", models.DateTimeField()),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="merged",
                        to="reservations.visitor",
                    ),
                ),
                (
                    "venue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="visitors", to="accounts.venue"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("merged_into__isnull", True),
                            models.Q(("merged_into", models.F("id")), _negated=True),
                            _connector="OR",
                        ),
                        name="visitor_is_not_merged_into_itself",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Contact",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("address", models.CharField(max_length=254)),
                (
                    "venue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.venue",
                    ),
                ),
                (
                    "visitor",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="contacts", to="reservations.visitor"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("venue", "address"), name="contact_of_one_guest_of_a_venue")
                ],
            },
        ),
    ]
