"""Exports of all datasets in three formats, paid for, of one snapshot; insights by providers that cost money."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("catalogue", "0024_booleans_are_named"),
        ("payments", "0019_payments_come_through_a_door"),
    ]

    operations = [
        migrations.CreateModel(
            name="InsightCall",
            fields=[
                (
                    "id",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("provider", models.CharField(max_length=40)),
                ("model", models.CharField(max_length=80)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("asked", "asked, no answer yet"),
                            ("written", "Written"),
                            ("refused", "the model declined"),
                            ("rejected", "its text did not stand up to the reviews"),
                            ("failed", "no answer, or none that can be read"),
                        ],
                        default="asked",
                        max_length=10,
                    ),
                ),
                ("reason", models.CharField(blank=True, max_length=500)),
                ("input_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("output_tokens", models.PositiveIntegerField(blank=True, null=True)),
                ("cost_usd", models.DecimalField(decimal_places=6, max_digits=12, verbose_name="cost in USD")),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="InsightDemand",
            fields=[
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="insight_demand",
                        serialize=False,
                        to="catalogue.restaurant",
                    ),
                ),
                ("asked", models.PositiveIntegerField(default=1, help_text="How often")),
                ("first_asked_at", models.DateTimeField()),
                ("last_asked_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Removal",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "dataset",
                    models.CharField(
                        choices=[
                            ("restaurants", "Restaurants"),
                            ("reviews", "Reviews"),
                            ("photos", "Photos"),
                            ("landmarks", "Landmarks"),
                            ("history", "History"),
                        ],
                        max_length=20,
                    ),
                ),
                ("key", models.CharField(help_text="Its public id", max_length=60)),
                ("at", models.DateTimeField()),
            ],
        ),
        migrations.RemoveConstraint(
            model_name="export",
            name="one_unfinished_export_of_a_kind_and_wallet",
        ),
        migrations.RemoveConstraint(
            model_name="export",
            name="export_status_is_known",
        ),
        migrations.AddField(
            model_name="export",
            name="changes_from",
            field=models.DateTimeField(
                blank=True, help_text="What changed earlier is in the files: where a delta begins", null=True
            ),
        ),
        migrations.AddField(
            model_name="export",
            name="fields",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=20),
                blank=True,
                default=list,
                help_text="Field groups; empty: the core fields",
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="export",
            name="generation",
            field=models.PositiveIntegerField(default=0, help_text="How many snapshots were taken"),
        ),
        migrations.AddField(
            model_name="export",
            name="payment",
            field=models.OneToOneField(
                blank=True,
                help_text="Null: not paid yet, or nothing to pay",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="export",
                to="payments.payment",
            ),
        ),
        migrations.AddField(
            model_name="export",
            name="since_export",
            field=models.ForeignKey(
                blank=True,
                help_text="Only what has changed since that one",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="deltas",
                to="catalogue.export",
            ),
        ),
        migrations.AddField(
            model_name="export",
            name="snapshots",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40),
                blank=True,
                default=list,
                help_text="Names under which it may still be open",
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="exportpart",
            name="file",
            field=models.CharField(blank=True, help_text="Its name in the folder of the export", max_length=100),
        ),
        migrations.AddField(
            model_name="exportpart",
            name="generation",
            field=models.PositiveIntegerField(default=0, help_text="Of the snapshot that it is known to be of"),
        ),
        migrations.AddField(
            model_name="exportpart",
            name="horizon",
            field=models.BigIntegerField(
                blank=True, help_text="Transactions before this one were all over when it was read", null=True
            ),
        ),
        migrations.AddField(
            model_name="exportpart",
            name="kind",
            field=models.CharField(
                choices=[("rows", "Rows"), ("removed", "Removed")],
                default="rows",
                help_text="Rows, or of a delta the ids of those that are gone",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="exportpart",
            name="token",
            field=models.PositiveBigIntegerField(default=0, help_text="Of the last claim"),
        ),
        migrations.AddField(
            model_name="insight",
            name="approved_at",
            field=models.DateTimeField(blank=True, help_text="When staff found it good", null=True),
        ),
        migrations.AddField(
            model_name="insight",
            name="approved_by",
            field=models.CharField(blank=True, max_length=150),
        ),
        migrations.AddField(
            model_name="insight",
            name="cost_usd",
            field=models.DecimalField(decimal_places=6, default=0, max_digits=12, verbose_name="cost in USD"),
        ),
        migrations.AddField(
            model_name="insight",
            name="model",
            field=models.CharField(blank=True, help_text="Of the provider, where it has several", max_length=80),
        ),
        migrations.AddField(
            model_name="landmark",
            name="updated_at",
            field=models.DateTimeField(
                db_default=django.db.models.functions.datetime.Now(), editable=False, help_text="Kept by a trigger"
            ),
        ),
        migrations.AddField(
            model_name="photo",
            name="updated_at",
            field=models.DateTimeField(
                db_default=django.db.models.functions.datetime.Now(), editable=False, help_text="Kept by a trigger"
            ),
        ),
        migrations.AddField(
            model_name="review",
            name="updated_at",
            field=models.DateTimeField(
                db_default=django.db.models.functions.datetime.Now(), editable=False, help_text="Kept by a trigger"
            ),
        ),
        migrations.AlterField(
            model_name="export",
            name="dataset",
            field=models.CharField(
                choices=[
                    ("restaurants", "Restaurants"),
                    ("reviews", "Reviews"),
                    ("photos", "Photos"),
                    ("landmarks", "Landmarks"),
                    ("history", "History"),
                ],
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="export",
            name="fingerprint",
            field=models.CharField(help_text="SHA-256 of what is exported and how", max_length=64),
        ),
        migrations.AlterField(
            model_name="export",
            name="format",
            field=models.CharField(
                choices=[("parquet", "parquet"), ("jsonl.gz", "jsonl.gz"), ("csv.gz", "csv.gz")], max_length=20
            ),
        ),
        migrations.AlterField(
            model_name="export",
            name="status",
            field=models.CharField(
                choices=[
                    ("awaiting_payment", "Awaiting Payment"),
                    ("queued", "Queued"),
                    ("running", "Running"),
                    ("succeeded", "Succeeded"),
                    ("failed", "Failed"),
                    ("cancelled", "Cancelled"),
                    ("expired", "Expired"),
                ],
                default="queued",
                max_length=20,
            ),
        ),
        migrations.AlterField(
            model_name="export",
            name="wallet",
            field=models.ForeignKey(
                blank=True,
                help_text="Null: ordered by staff",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="exports",
                to="payments.wallet",
            ),
        ),
        migrations.AlterField(
            model_name="exportpart",
            name="hi",
            field=models.CharField(
                blank=True, help_text="Up to this key; null: to the last", max_length=40, null=True
            ),
        ),
        migrations.AlterField(
            model_name="exportpart",
            name="lo",
            field=models.CharField(
                blank=True, help_text="After this key; null: from the first", max_length=40, null=True
            ),
        ),
        migrations.AlterField(
            model_name="exportpart",
            name="tries",
            field=models.PositiveIntegerField(default=0, help_text="Claims to write it that have not ended well"),
        ),
        migrations.AddConstraint(
            model_name="export",
            constraint=models.UniqueConstraint(
                condition=models.Q(("status__in", ("awaiting_payment", "queued", "running"))),
                fields=("wallet", "fingerprint"),
                name="one_unfinished_export_of_a_kind_and_wallet",
            ),
        ),
        migrations.AddConstraint(
            model_name="export",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "status__in",
                        ["awaiting_payment", "queued", "running", "succeeded", "failed", "cancelled", "expired"],
                    )
                ),
                name="export_status_is_known",
            ),
        ),
        migrations.AddField(
            model_name="insightcall",
            name="restaurant",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="insight_calls", to="catalogue.restaurant"
            ),
        ),
        migrations.AddIndex(
            model_name="insightdemand",
            index=models.Index(fields=["-asked", "first_asked_at"], name="insight_demand_by_weight"),
        ),
        migrations.AddIndex(
            model_name="removal",
            index=models.Index(fields=["dataset", "at", "id"], name="removal_by_age"),
        ),
        migrations.AddIndex(
            model_name="insightcall",
            index=models.Index(fields=["started_at"], name="insight_call_by_day"),
        ),
        migrations.AddIndex(
            model_name="insightcall",
            index=models.Index(fields=["restaurant", "-started_at"], name="insight_call_of_restaurant"),
        ),
        migrations.AddConstraint(
            model_name="insightcall",
            constraint=models.CheckConstraint(
                condition=models.Q(("outcome__in", ["asked", "written", "refused", "rejected", "failed"])),
                name="insight_call_outcome_is_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="insightcall",
            constraint=models.CheckConstraint(
                condition=models.Q(("cost_usd__gte", 0)), name="insight_call_costs_no_less_than_nothing"
            ),
        ),
        migrations.AddConstraint(
            model_name="insightcall",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("ended_at__isnull", True), ("outcome", "asked")),
                    models.Q(models.Q(("outcome", "asked"), _negated=True), ("ended_at__isnull", False)),
                    _connector="OR",
                ),
                name="an_insight_call_that_ended_says_when",
            ),
        ),
    ]
