"""Guests of a venue are found by a part of their name, mail address or number, and their visits by either contact."""

import django.contrib.postgres.indexes
import django.db.models.functions.text
from django.contrib.postgres.operations import BtreeGinExtension, TrigramExtension
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reservations", "0010_staff_note_what_they_know_of_guests"),
    ]

    operations = [
        TrigramExtension(),
        BtreeGinExtension(),
        migrations.AddIndex(
            model_name="reservation",
            index=models.Index(
                models.F("venue"),
                django.db.models.functions.text.Lower("customer_email"),
                name="reservation_of_guest_by_mail",
            ),
        ),
        migrations.AddIndex(
            model_name="reservation",
            index=models.Index(fields=["venue", "customer_phone"], name="reservation_of_guest_by_phone"),
        ),
        migrations.AddIndex(
            model_name="reservation",
            index=django.contrib.postgres.indexes.GinIndex(
                models.F("venue"),
                django.contrib.postgres.indexes.OpClass(
                    django.db.models.functions.text.Upper(
                        django.db.models.functions.text.Concat(
                            "customer_name",
                            models.Value("\n"),
                            "customer_email",
                            models.Value("\n"),
                            "customer_phone",
                            output_field=models.TextField(),
                        )
                    ),
                    name="gin_trgm_ops",
                ),
                name="reservation_by_guest_trigrams",
            ),
        ),
    ]
