"""Venues state cancellation terms and deposits, and reservations keep those that they were made on."""

from decimal import Decimal

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import framework.public_ids
import reservations.models.terms


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_webhook_endpoint_postponed_until"),
        ("reservations", "0008_branding"),
    ]

    operations = [
        migrations.CreateModel(
            name="AgreedTerms",
            fields=[
                (
                    "reservation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="agreed_terms",
                        serialize=False,
                        to="reservations.reservation",
                    ),
                ),
                ("free_hours", models.PositiveSmallIntegerField(null=True)),
                ("free_until", models.DateTimeField(help_text="Until then the guest cancels free of charge")),
                ("deposit_usdc", models.DecimalField(decimal_places=6, max_digits=78, null=True)),
                (
                    "deposit_state",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("held", "held"),
                            ("kept", "kept for the restaurant"),
                            ("returned", "returned to the guest"),
                        ],
                        default="",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(help_text="When the deposit was returned or kept", null=True)),
            ],
            options={
                "verbose_name_plural": "agreed terms",
                "indexes": [
                    models.Index(
                        condition=models.Q(("deposit_state", "held")),
                        fields=["reservation"],
                        name="agreed_deposit_held",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("deposit_state", ""), ("deposit_usdc__isnull", False), _connector="OR"),
                        name="agreed_deposit_state_if_paid",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", False), ("deposit_state__in", ["kept", "returned"])),
                            models.Q(("decided_at__isnull", True), ("deposit_state__in", ["", "held"])),
                            _connector="OR",
                        ),
                        name="agreed_decided_at_if_decided",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CancellationTerms",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "party_from",
                    models.PositiveSmallIntegerField(default=1, help_text="Number of guests, smallest party"),
                ),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(),
                        default=reservations.models.terms.every_weekday,
                        help_text="0 is Monday",
                        size=None,
                    ),
                ),
                (
                    "first_date",
                    models.DateField(blank=True, help_text="In the venue's time zone; empty: no limit", null=True),
                ),
                ("last_date", models.DateField(blank=True, help_text="Included; empty: no limit", null=True)),
                (
                    "free_hours",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Guests cancel free of charge until so many hours before, 0 to 168; empty: always",
                        null=True,
                    ),
                ),
                (
                    "deposit_usdc",
                    models.DecimalField(
                        blank=True,
                        decimal_places=2,
                        help_text="For each guest, 0.01 to 1000; empty: no deposit",
                        max_digits=6,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(Decimal("0.01")),
                            django.core.validators.MaxValueValidator(Decimal(1000)),
                        ],
                        verbose_name="deposit in USDC",
                    ),
                ),
                (
                    "venue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cancellation_terms",
                        to="accounts.venue",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "cancellation terms",
            },
        ),
        migrations.CreateModel(
            name="CancellationTermsChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
                (
                    "party_from",
                    models.PositiveSmallIntegerField(default=1, help_text="Number of guests, smallest party"),
                ),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(),
                        default=reservations.models.terms.every_weekday,
                        help_text="0 is Monday",
                        size=None,
                    ),
                ),
                (
                    "first_date",
                    models.DateField(blank=True, help_text="In the venue's time zone; empty: no limit", null=True),
                ),
                ("last_date", models.DateField(blank=True, help_text="Included; empty: no limit", null=True)),
                (
                    "free_hours",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Guests cancel free of charge until so many hours before, 0 to 168; empty: always",
                        null=True,
                    ),
                ),
                (
                    "deposit_usdc",
                    models.DecimalField(
                        blank=True,
                        decimal_places=2,
                        help_text="For each guest, 0.01 to 1000; empty: no deposit",
                        max_digits=6,
                        null=True,
                        validators=[
                            django.core.validators.MinValueValidator(Decimal("0.01")),
                            django.core.validators.MaxValueValidator(Decimal(1000)),
                        ],
                        verbose_name="deposit in USDC",
                    ),
                ),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="reservations.cancellationterms",
                    ),
                ),
                (
                    "venue",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="accounts.venue",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.AddConstraint(
            model_name="cancellationterms",
            constraint=models.CheckConstraint(
                condition=models.Q(("weekdays__contained_by", [0, 1, 2, 3, 4, 5, 6]), ("weekdays__len__gte", 1)),
                name="terms_have_weekdays",
                violation_error_message="Weekdays are numbers from 0 (Monday) to 6 (Sunday).",
            ),
        ),
        migrations.AddConstraint(
            model_name="cancellationterms",
            constraint=models.CheckConstraint(
                condition=models.Q(("party_from__range", (1, 500))),
                name="terms_party_from_1_to_500",
                violation_error_message="The smallest party is of 1 to 500 guests.",
            ),
        ),
        migrations.AddConstraint(
            model_name="cancellationterms",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("first_date", None),
                    ("last_date", None),
                    ("last_date__gte", models.F("first_date")),
                    _connector="OR",
                ),
                name="terms_last_date_not_before_first",
                violation_error_message="The last day is before the first.",
            ),
        ),
        migrations.AddConstraint(
            model_name="cancellationterms",
            constraint=models.CheckConstraint(
                condition=models.Q(("free_hours", None), ("free_hours__lte", 168), _connector="OR"),
                name="terms_free_hours_up_to_168",
                violation_error_message="Guests may have to cancel at most 168 hours (a week) before.",
            ),
        ),
        migrations.AddConstraint(
            model_name="cancellationterms",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("deposit_usdc", None),
                    models.Q(("deposit_usdc__gt", 0), ("deposit_usdc__lte", Decimal(1000))),
                    _connector="OR",
                ),
                name="terms_deposit_up_to_1000",
                violation_error_message="A deposit is of 0.01 to 1000 USDC for each guest.",
            ),
        ),
        migrations.AddConstraint(
            model_name="cancellationterms",
            constraint=models.CheckConstraint(
                condition=models.Q(("free_hours__isnull", False), ("deposit_usdc__isnull", False), _connector="OR"),
                name="terms_ask_something",
                violation_error_message="Enter the hours of free cancellation, a deposit, or both.",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="cancellationterms",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "reservations_cancellationtermschange" ("deposit_usdc", "first_date", "free_hours", "id", "last_date", "party_from", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id", "weekdays") VALUES (NEW."deposit_usdc", NEW."first_date", NEW."free_hours", NEW."id", NEW."last_date", NEW."party_from", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."venue_id", NEW."weekdays"); RETURN NULL;',
                    hash="50177ad73d785cdfeb62c42f5c0cb8d80960c801",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_46f06",
                    table="reservations_cancellationterms",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="cancellationterms",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "reservations_cancellationtermschange" ("deposit_usdc", "first_date", "free_hours", "id", "last_date", "party_from", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id", "weekdays") VALUES (OLD."deposit_usdc", OLD."first_date", OLD."free_hours", OLD."id", OLD."last_date", OLD."party_from", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."venue_id", OLD."weekdays"); RETURN NULL;',
                    hash="43603e4239dc072f92ee622ba538b70fdbac75ea",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_deb2e",
                    table="reservations_cancellationterms",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="cancellationterms",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "reservations_cancellationtermschange" ("deposit_usdc", "first_date", "free_hours", "id", "last_date", "party_from", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id", "weekdays") VALUES (OLD."deposit_usdc", OLD."first_date", OLD."free_hours", OLD."id", OLD."last_date", OLD."party_from", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."venue_id", OLD."weekdays"); RETURN NULL;',
                    hash="80604365ef7d8211782c85415c599f45348df848",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_b6bd3",
                    table="reservations_cancellationterms",
                    when="AFTER",
                ),
            ),
        ),
    ]
