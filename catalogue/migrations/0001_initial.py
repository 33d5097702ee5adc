import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.datetime
import django.db.models.functions.text
import django.db.models.lookups
from django.conf import settings
from django.contrib.postgres.operations import (
    BtreeGinExtension,
    BtreeGistExtension,
    CreateExtension,
    TrigramExtension,
    UnaccentExtension,
)
from django.db import migrations, models

import catalogue.models.postgres_fields
import catalogue.models.restaurants
import framework.public_ids
import framework.timezones
from framework.db.deferred_sql import create_references
from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
        ("accounts", "__first__"),
        ("payments", "0001_initial"),
        ("reservations", "0001_initial"),
    ]

    operations = [
        TrigramExtension(),
        CreateExtension("fuzzystrmatch"),
        UnaccentExtension(),
        BtreeGistExtension(),
        BtreeGinExtension(),
        run_sql_files("catalogue", "mercator"),
        run_sql_files("framework", "fold"),
        migrations.CreateModel(
            name="Source",
            fields=[
                ("key", models.SlugField(max_length=40, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=120)),
                ("license", models.CharField(help_text="SPDX identifier, for example ODbL-1.0", max_length=60)),
                (
                    "attribution",
                    models.CharField(help_text="Attribution in responses with data of this source", max_length=200),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Market",
            fields=[
                ("slug", models.SlugField(max_length=40, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=80)),
                ("country", models.CharField(help_text="ISO 3166-1 alpha-2", max_length=2)),
                (
                    "timezone",
                    models.CharField(
                        help_text="IANA name", max_length=64, validators=[framework.timezones.validate_zone]
                    ),
                ),
                ("currency", models.CharField(help_text="ISO 4217", max_length=3)),
                (
                    "calling_code",
                    models.CharField(help_text="Digits after the plus, for numbers written nationally", max_length=4),
                ),
                ("latitude", models.FloatField()),
                ("longitude", models.FloatField()),
                ("radius_m", models.PositiveIntegerField(help_text="Maximum distance from the centre in metres")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("country__regex", "^[A-Z]{2}$")),
                        name="market_country_code_valid",
                        violation_error_message="The country is a code of ISO 3166-1: DK.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("currency__regex", "^[A-Z]{3}$")),
                        name="market_currency_code_valid",
                        violation_error_message="The currency is a code of ISO 4217: DKK.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("calling_code__regex", "^[1-9][0-9]{0,3}$")),
                        name="market_calling_code_is_digits",
                        violation_error_message="The calling code is the digits after the plus: 45.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("latitude__range", (-85, 85)), ("longitude__range", (-180, 180))),
                        name="market_location_valid",
                        violation_error_message="The centre lies within 85 degrees of latitude and 180 of longitude.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("radius_m__range", (1, 500000))),
                        name="market_radius_in_1_m_to_500_km",
                        violation_error_message="The radius is 1 to 500,000 metres.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Cuisine",
            fields=[
                ("slug", models.SlugField(max_length=60, primary_key=True, serialize=False)),
                ("label", models.CharField(help_text="In English", max_length=80)),
                (
                    "labels",
                    models.JSONField(
                        blank=True,
                        db_default={},
                        default=dict,
                        help_text='In other languages: {"da": "Fisk og skaldyr"}',
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Attribute",
            fields=[
                ("key", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("label", models.CharField(help_text="In English", max_length=80)),
                (
                    "kind",
                    models.CharField(
                        choices=[("amenity", "Amenity"), ("diet", "Diet")], default="amenity", max_length=10
                    ),
                ),
                (
                    "values",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        help_text="Values in addition to yes and no; empty: none",
                        size=None,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("key__regex", "^[a-z][a-z0-9_]*$")),
                        name="attribute_key_valid",
                        violation_error_message="A key has small letters, digits and _, and begins with a letter.",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Holiday",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "market",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="holidays", to="catalogue.market"
                    ),
                ),
                ("date", models.DateField()),
                ("name", models.CharField(max_length=120)),
                (
                    "is_struck",
                    models.BooleanField(
                        default=False,
                        help_text="Excluded: not a holiday here, although the calendars contain it",
                        verbose_name="excluded",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("market", "date"), name="unique_market_holiday")],
            },
        ),
        migrations.CreateModel(
            name="Restaurant",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("slug", models.SlugField(max_length=120, unique=True)),
                ("name", models.CharField(max_length=200)),
                (
                    "alt_names",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=200), blank=True, default=list, size=None
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("open", "Open"),
                            ("temporarily_closed", "Temporarily Closed"),
                            ("permanently_closed", "Permanently Closed"),
                            ("moved", "Moved"),
                            ("unverified", "Unverified"),
                        ],
                        default="open",
                        max_length=20,
                    ),
                ),
                (
                    "market",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="restaurants", to="catalogue.market"
                    ),
                ),
                ("neighborhood", models.CharField(blank=True, max_length=120, null=True)),
                ("line1", models.CharField(blank=True, max_length=200, null=True)),
                ("locality", models.CharField(blank=True, max_length=120, null=True)),
                ("region", models.CharField(blank=True, max_length=120, null=True)),
                ("postal_code", models.CharField(blank=True, max_length=20, null=True)),
                ("country", models.CharField(max_length=2)),
                ("latitude", models.FloatField(blank=True, null=True)),
                ("longitude", models.FloatField(blank=True, null=True)),
                (
                    "position",
                    models.GeneratedField(
                        db_persist=True,
                        expression=catalogue.models.restaurants.Mercator("latitude", "longitude"),
                        output_field=catalogue.models.postgres_fields.PointField(null=True),
                    ),
                ),
                ("phone", models.CharField(blank=True, help_text="E.164", max_length=16, null=True)),
                ("phone_verified_at", models.DateTimeField(blank=True, null=True)),
                ("website", models.URLField(blank=True, max_length=500, null=True)),
                ("rating", models.DecimalField(blank=True, decimal_places=1, max_digits=2, null=True)),
                ("review_count", models.PositiveIntegerField(default=0)),
                (
                    "star_counts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(),
                        blank=True,
                        default=list,
                        help_text="From one star to five",
                        size=5,
                    ),
                ),
                (
                    "review_facets",
                    models.JSONField(
                        blank=True,
                        db_default={},
                        default=dict,
                        editable=False,
                        help_text="by_lang, with_photos, with_reply",
                    ),
                ),
                (
                    "price_level",
                    models.IntegerField(blank=True, help_text="1 to 4, one step per currency symbol", null=True),
                ),
                (
                    "cuisine",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="restaurants",
                        to="catalogue.cuisine",
                    ),
                ),
                (
                    "cuisines",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60),
                        blank=True,
                        default=list,
                        help_text="Slugs, the main one first",
                        size=None,
                    ),
                ),
                (
                    "hours",
                    models.JSONField(
                        blank=True, help_text="As catalogue.hours.Hours.to_json; null when unknown", null=True
                    ),
                ),
                ("attributes", models.JSONField(blank=True, default=dict)),
                ("external_ids", models.JSONField(blank=True, default=dict)),
                ("verified_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("version", models.PositiveIntegerField(default=1, help_text="Set by the database")),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merged",
                        to="catalogue.restaurant",
                    ),
                ),
                ("erased_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "locked_fields",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        db_default=[],
                        default=list,
                        help_text="Set by staff: imports do not change these fields",
                        size=None,
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GistIndex(fields=["position"], name="restaurant_by_position"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(models.Func("name", function="fold"), "gin_trgm_ops"),
                        name="restaurant_by_name_trigrams",
                    ),
                    models.Index(
                        condition=models.Q(("phone__isnull", False)), fields=["phone"], name="restaurant_by_phone"
                    ),
                    models.Index(fields=["market", "id"], name="restaurant_by_market"),
                    models.Index(fields=["updated_at", "id"], name="restaurant_by_update"),
                    models.Index(
                        condition=models.Q(("status", "open"), _negated=True),
                        fields=["status", "id"],
                        name="restaurant_not_open",
                    ),
                    models.Index(
                        condition=models.Q(
                            ("hours__contains", {"known": False}), ("hours__has_key", "notes"), _connector="OR"
                        ),
                        fields=["id"],
                        name="restaurant_with_unparsed_hours",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("price_level__range", (1, 4))), name="restaurant_price_level_in_1_to_4"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("rating__range", (1, 5))), name="restaurant_rating_in_1_to_5"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("latitude__isnull", True), ("longitude__isnull", True)),
                            models.Q(
                                ("latitude__isnull", False),
                                ("latitude__range", (-85, 85)),
                                ("longitude__isnull", False),
                                ("longitude__range", (-180, 180)),
                            ),
                            _connector="OR",
                        ),
                        name="restaurant_location_valid",
                        violation_error_message="A location is a latitude within 85 degrees and a longitude within 180, or neither.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("country__regex", "^[A-Z]{2}$")),
                        name="restaurant_country_code_valid",
                        violation_error_message="The country is a code of ISO 3166-1: DK.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("merged_into__isnull", True),
                            models.Q(("merged_into", models.F("id")), _negated=True),
                            _connector="OR",
                        ),
                        name="restaurant_not_merged_into_itself",
                    ),
                    models.CheckConstraint(
                        condition=django.db.models.lookups.Exact(
                            models.Func("attributes", function="jsonb_typeof", output_field=models.TextField()),
                            models.Value("object"),
                        ),
                        name="restaurant_attributes_is_object",
                    ),
                    models.CheckConstraint(
                        condition=django.db.models.lookups.Exact(
                            models.Func("external_ids", function="jsonb_typeof", output_field=models.TextField()),
                            models.Value("object"),
                        ),
                        name="restaurant_external_ids_is_object",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("phone__regex", "^\\+[1-9][0-9]{6,14}$")), name="restaurant_phone_is_e164"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("slug__regex", "^[a-z0-9]+(-[a-z0-9]+)*$")),
                        name="restaurant_slug_is_lowercase",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SourceRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="source_records",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="records", to="catalogue.source"
                    ),
                ),
                ("record", models.CharField(help_text="The source's own id", max_length=120)),
                ("digest", models.CharField(help_text="SHA-256 of the record; equal means unchanged", max_length=64)),
                (
                    "fields",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        default=list,
                        help_text="Fields taken from this source",
                        size=None,
                    ),
                ),
                ("updated_at", models.DateTimeField()),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("source", "record"), name="unique_source_record")],
            },
        ),
        migrations.CreateModel(
            name="MatchCandidate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "first",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalogue.restaurant"
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="catalogue.restaurant"
                    ),
                ),
                ("score", models.FloatField(help_text="0 to 1")),
                ("reasons", models.JSONField(default=dict, help_text="Similarities: name, address, phone, metres")),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("merged", "Merged"), ("distinct", "Distinct")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("found_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state", "-score", "id"], name="match_candidate_by_score")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("first__lt", models.F("second"))), name="match_candidate_ids_ordered"
                    ),
                    models.UniqueConstraint(fields=("first", "second"), name="unique_match_candidate_pair"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Export",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "wallet",
                    models.ForeignKey(
                        blank=True,
                        help_text="Null: ordered by staff",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="exports",
                        to="payments.wallet",
                    ),
                ),
                (
                    "payment",
                    models.OneToOneField(
                        blank=True,
                        help_text="Null: not paid yet, or nothing to pay",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="export",
                        to="payments.payment",
                    ),
                ),
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
                (
                    "format",
                    models.CharField(
                        choices=[("parquet", "parquet"), ("jsonl.gz", "jsonl.gz"), ("csv.gz", "csv.gz")], max_length=20
                    ),
                ),
                ("filter", models.JSONField(blank=True, default=dict)),
                (
                    "fields",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20),
                        blank=True,
                        default=list,
                        help_text="Field groups; empty: the core fields",
                        size=None,
                    ),
                ),
                (
                    "since_export",
                    models.ForeignKey(
                        blank=True,
                        help_text="Only what has changed since that one",
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deltas",
                        to="catalogue.export",
                    ),
                ),
                ("fingerprint", models.CharField(help_text="SHA-256 of what is exported and how", max_length=64)),
                ("queue", models.CharField(help_text="Queue of the customer's tier", max_length=20)),
                (
                    "status",
                    models.CharField(
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
                (
                    "rows_total",
                    models.BigIntegerField(blank=True, help_text="Rows when it began, for the progress", null=True),
                ),
                (
                    "rows",
                    models.BigIntegerField(blank=True, help_text="Rows in the files; known at the end", null=True),
                ),
                ("manifest_sha256", models.CharField(blank=True, max_length=64)),
                ("error", models.CharField(blank=True, max_length=500)),
                ("created_at", models.DateTimeField()),
                (
                    "restarted_at",
                    models.DateTimeField(
                        blank=True, help_text="When it was last restarted after a failure", null=True
                    ),
                ),
                (
                    "snapshot_at",
                    models.DateTimeField(blank=True, help_text="Time of the data in the files", null=True),
                ),
                (
                    "changes_from",
                    models.DateTimeField(
                        blank=True,
                        help_text="Changes before this time are in the files; a delta starts here",
                        null=True,
                    ),
                ),
                ("generation", models.PositiveIntegerField(default=0, help_text="Number of snapshots")),
                (
                    "snapshots",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        help_text="Names under which it may still be open",
                        size=None,
                    ),
                ),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["wallet", "-created_at"], name="export_newest_of_wallet"),
                    models.Index(
                        condition=models.Q(("status", "failed")), fields=["created_at"], name="export_failed"
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("status__in", ("awaiting_payment", "queued", "running"))),
                        fields=("wallet", "fingerprint"),
                        name="unique_unfinished_export",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "status__in",
                                [
                                    "awaiting_payment",
                                    "queued",
                                    "running",
                                    "succeeded",
                                    "failed",
                                    "cancelled",
                                    "expired",
                                ],
                            )
                        ),
                        name="export_status_valid",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "failed"), _negated=True),
                            models.Q(("error", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="failed_export_requires_error",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("status", "succeeded"), _negated=True),
                            models.Q(("expires_at__isnull", False), ("rows__isnull", False)),
                            _connector="OR",
                        ),
                        name="succeeded_export_requires_rows",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ExportPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "export",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="catalogue.export"
                    ),
                ),
                ("seq", models.PositiveIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[("rows", "Rows"), ("removed", "Removed")],
                        default="rows",
                        help_text="Rows, or the ids of deleted rows of a delta",
                        max_length=10,
                    ),
                ),
                (
                    "lo",
                    models.CharField(
                        blank=True, help_text="After this key; null: from the first", max_length=40, null=True
                    ),
                ),
                (
                    "hi",
                    models.CharField(
                        blank=True, help_text="Up to this key; null: to the last", max_length=40, null=True
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("queued", "Queued"), ("claimed", "Claimed"), ("done", "Done")],
                        default="queued",
                        max_length=20,
                    ),
                ),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("token", models.PositiveBigIntegerField(default=0, help_text="Of the last claim")),
                ("attempts", models.PositiveIntegerField(default=0, help_text="Failed attempts")),
                (
                    "generation",
                    models.PositiveIntegerField(default=0, help_text="Of the snapshot that it is known to be of"),
                ),
                (
                    "horizon",
                    models.BigIntegerField(
                        blank=True, help_text="Transactions before this one were all over when it was read", null=True
                    ),
                ),
                (
                    "file",
                    models.CharField(blank=True, help_text="Its name in the folder of the export", max_length=100),
                ),
                ("rows", models.PositiveIntegerField(blank=True, null=True)),
                ("bytes", models.BigIntegerField(blank=True, null=True)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                (
                    "sources",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        blank=True,
                        default=list,
                        help_text="Sources of the data",
                        size=None,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("export", "seq"), name="unique_export_part_seq"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["queued", "claimed", "done"])),
                        name="export_part_state_valid",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            models.Q(
                                ("bytes__isnull", False),
                                ("rows__isnull", False),
                                models.Q(("sha256", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="done_export_part_requires_rows",
                    ),
                ],
            },
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
            options={
                "indexes": [models.Index(fields=["dataset", "at", "id"], name="removal_by_age")],
            },
        ),
        migrations.CreateModel(
            name="ImportRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="runs", to="catalogue.source"
                    ),
                ),
                (
                    "market",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.market",
                    ),
                ),
                ("file", models.CharField(max_length=400)),
                (
                    "forced",
                    models.BooleanField(db_default=False, default=False, help_text="Ran despite the safety check"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("stopped", "stopped by the safety check"),
                        ],
                        default="running",
                        max_length=10,
                    ),
                ),
                ("read", models.PositiveIntegerField(default=0)),
                ("created", models.PositiveIntegerField(default=0)),
                ("changed", models.PositiveIntegerField(default=0)),
                ("unchanged", models.PositiveIntegerField(default=0)),
                ("skipped", models.PositiveIntegerField(default=0, help_text="Valid rows that are not restaurants")),
                (
                    "merged",
                    models.PositiveIntegerField(
                        db_default=0, default=0, help_text="New records of restaurants known from other sources"
                    ),
                ),
                (
                    "queued",
                    models.PositiveIntegerField(db_default=0, default=0, help_text="Pairs for staff to review"),
                ),
                (
                    "closed",
                    models.PositiveIntegerField(db_default=0, default=0, help_text="Missing in a newer release"),
                ),
                ("rejected", models.PositiveIntegerField(default=0)),
                ("rejects_file", models.CharField(blank=True, max_length=400)),
                ("error", models.TextField(blank=True)),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name="Insight",
            fields=[
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="insight",
                        serialize=False,
                        to="catalogue.restaurant",
                    ),
                ),
                ("text", models.CharField(max_length=600)),
                (
                    "detail",
                    models.JSONField(help_text="Best time, dishes, aspects, watch-outs, each with its citations"),
                ),
                ("provider", models.CharField(max_length=40)),
                ("provider_version", models.CharField(max_length=20)),
                ("input_hash", models.CharField(help_text="SHA-256 of the input", max_length=64)),
                ("review_count", models.PositiveIntegerField(help_text="Reviews used")),
                (
                    "restaurant_review_count",
                    models.PositiveIntegerField(help_text="Review count of the restaurant at that time"),
                ),
                ("reviews_through", models.DateTimeField(help_text="Newest review used")),
                ("rating", models.FloatField(blank=True, null=True)),
                ("generated_at", models.DateTimeField()),
                (
                    "failed_at",
                    models.DateTimeField(
                        blank=True, help_text="Last failure of the provider, if there was no success since", null=True
                    ),
                ),
                (
                    "is_outdated",
                    models.BooleanField(
                        db_default=False, default=False, editable=False, help_text="The input has changed since"
                    ),
                ),
                ("hidden", models.BooleanField(default=False, help_text="Not served")),
                ("model", models.CharField(blank=True, help_text="Model of the provider", max_length=80)),
                (
                    "cost_usd",
                    models.DecimalField(decimal_places=6, default=0, max_digits=12, verbose_name="cost in USD"),
                ),
                ("approved_at", models.DateTimeField(blank=True, help_text="When staff approved it", null=True)),
                ("approved_by", models.CharField(blank=True, max_length=150)),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("approved_at", None), models.Q(("text", ""), _negated=True)),
                        fields=["provider"],
                        name="insight_not_approved",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("review_count__gte", 5), ("text", ""), _connector="OR"),
                        name="insight_min_reviews",
                        violation_error_message="Fewer than five reviews say too little.",
                    )
                ],
            },
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
                ("request_count", models.PositiveIntegerField(default=1, help_text="How often")),
                ("first_requested_at", models.DateTimeField()),
                ("last_requested_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["-request_count", "first_requested_at"], name="insight_demand_by_weight")
                ],
            },
        ),
        migrations.CreateModel(
            name="InsightCall",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="insight_calls",
                        to="catalogue.restaurant",
                    ),
                ),
                ("provider", models.CharField(max_length=40)),
                ("provider_version", models.CharField(default="", max_length=20)),
                ("model", models.CharField(max_length=80)),
                ("input_hash", models.CharField(default="", help_text="SHA-256 of the input", max_length=64)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("pending", "no response yet"),
                            ("written", "Written"),
                            ("refused", "the model declined"),
                            ("rejected", "text not supported by the reviews"),
                            ("failed", "no response, or an invalid one"),
                            ("dropped", "the reviews or the insight changed in the meantime"),
                        ],
                        default="pending",
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
            options={
                "indexes": [
                    models.Index(fields=["started_at"], name="insight_call_by_day"),
                    models.Index(fields=["restaurant", "-started_at"], name="insight_call_of_restaurant"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("outcome__in", ["pending", "written", "refused", "rejected", "failed", "dropped"])
                        ),
                        name="insight_call_outcome_valid",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("cost_usd__gte", 0)), name="insight_call_cost_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("outcome", "pending")),
                            models.Q(models.Q(("outcome", "pending"), _negated=True), ("ended_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="ended_insight_call_requires_timestamp",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("outcome", "pending")),
                        fields=("restaurant",),
                        name="unique_open_insight_call",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Landmark",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("landmark", "Landmark"),
                            ("museum", "Museum"),
                            ("park", "Park"),
                            ("theatre", "Theatre"),
                            ("viewpoint", "Viewpoint"),
                            ("market", "Market"),
                            ("transit", "Transit"),
                            ("neighborhood", "Neighborhood"),
                            ("city", "City"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "market",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="landmarks",
                        to="catalogue.market",
                    ),
                ),
                ("latitude", models.FloatField()),
                ("longitude", models.FloatField()),
                (
                    "position",
                    models.GeneratedField(
                        db_persist=True,
                        expression=catalogue.models.restaurants.Mercator("latitude", "longitude"),
                        output_field=catalogue.models.postgres_fields.PointField(),
                    ),
                ),
                (
                    "prominence",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="0 to 100: decides between landmarks with the same name"
                    ),
                ),
                ("wikidata", models.CharField(blank=True, max_length=20, null=True, unique=True)),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to="catalogue.source"
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GistIndex(fields=["position"], name="landmark_by_position")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("latitude__range", (-85, 85)), ("longitude__range", (-180, 180))),
                        name="landmark_location_valid",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("wikidata__regex", "^Q[1-9][0-9]*$")), name="landmark_wikidata_is_a_qid"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LandmarkName",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "landmark",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="names", to="catalogue.landmark"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "folded",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Func("name", function="fold"),
                        output_field=models.CharField(max_length=200),
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["folded"], name="landmark_name_exact"),
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["folded"], name="landmark_name_trigrams", opclasses=["gin_trgm_ops"]
                    ),
                ],
                "constraints": [models.UniqueConstraint(fields=("landmark", "folded"), name="unique_landmark_name")],
            },
        ),
        migrations.CreateModel(
            name="Listing",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="listing", to="catalogue.restaurant"
                    ),
                ),
                (
                    "venue",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="listing", to="accounts.venue"
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True, help_text="Whether offers are shown and can be booked", verbose_name="active"
                    ),
                ),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="FlowRule",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="flow_rules",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), help_text="0 is Monday", size=None
                    ),
                ),
                ("time", models.TimeField(help_text="First slot, in the restaurant's time zone")),
                ("until", models.TimeField(blank=True, help_text="Last slot; empty: one slot a day", null=True)),
                (
                    "every_minutes",
                    models.PositiveSmallIntegerField(
                        db_default=30,
                        default=30,
                        help_text="Minutes between slots",
                        verbose_name="interval in minutes",
                    ),
                ),
                ("percent", models.PositiveSmallIntegerField()),
                ("seats", models.PositiveSmallIntegerField(db_default=8, default=8, help_text="Guests per slot")),
                ("party_min", models.PositiveSmallIntegerField(db_default=1, default=1)),
                ("party_max", models.PositiveSmallIntegerField(db_default=8, default=8)),
                (
                    "applies_to",
                    models.CharField(
                        choices=[("food", "Food"), ("total", "Total")],
                        db_default="food",
                        default="food",
                        max_length=10,
                    ),
                ),
                (
                    "book_before_minutes",
                    models.PositiveSmallIntegerField(
                        db_default=30, default=30, help_text="Minutes before the slot until which it can be booked"
                    ),
                ),
                (
                    "bookable_days",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Days before the slot from which it can be booked; empty: no limit",
                        null=True,
                    ),
                ),
                ("terms", models.CharField(blank=True, db_default="", default="", max_length=500)),
                ("active", models.BooleanField(default=True)),
                (
                    "source_record",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        help_text="Source of the rule; empty: staff",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="flow_rules",
                        to="catalogue.sourcerecord",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("percent__range", (1, 90))), name="flow_rule_percent_in_1_to_90"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("weekdays__contained_by", [0, 1, 2, 3, 4, 5, 6]), ("weekdays__len__gte", 1)
                        ),
                        name="flow_rule_weekdays_in_0_to_6",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("until__isnull", True), ("until__gte", models.F("time")), _connector="OR"),
                        name="flow_rule_end_after_start",
                        violation_error_message="The last slot is not before the first.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("every_minutes__range", (5, 1440))),
                        name="flow_rule_steps_of_5_minutes_to_a_day",
                        violation_error_message="From slot to slot it is 5 to 1440 minutes.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("party_max__gte", models.F("party_min")),
                            ("party_min__gte", 1),
                            ("seats__gte", models.F("party_max")),
                        ),
                        name="flow_rule_party_within_seats",
                        violation_error_message="A party is of 1 to so many guests as the slot has seats.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FlowSlot",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "rule",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="slots",
                        to="catalogue.flowrule",
                    ),
                ),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="flow_slots",
                        to="catalogue.restaurant",
                    ),
                ),
                ("starts_at", models.DateTimeField()),
                ("date", models.DateField(help_text="In the restaurant's time zone, as `time`")),
                ("time", models.TimeField()),
                ("percent", models.PositiveSmallIntegerField()),
                ("applies_to", models.CharField(choices=[("food", "Food"), ("total", "Total")], max_length=10)),
                ("party_min", models.PositiveSmallIntegerField()),
                ("party_max", models.PositiveSmallIntegerField()),
                ("seats", models.PositiveSmallIntegerField()),
                ("seats_left", models.SmallIntegerField()),
                ("bookable_from", models.DateTimeField(null=True)),
                ("book_before", models.DateTimeField()),
                ("terms", models.CharField(blank=True, max_length=500)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "is_barred",
                    models.BooleanField(
                        db_default=False, default=False, help_text="Withdrawn by staff: rules do not restore it"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["restaurant", "starts_at"], name="slot_next_of_restaurant"),
                    models.Index(
                        condition=models.Q(("seats_left__gt", 0), ("withdrawn_at__isnull", True)),
                        fields=["starts_at"],
                        name="slot_on_sale",
                    ),
                    models.Index(
                        condition=models.Q(("seats_left__lt", models.F("seats"))),
                        fields=["starts_at"],
                        name="slot_booked",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("rule", "starts_at"), name="unique_slot_start"),
                    models.CheckConstraint(
                        condition=models.Q(("seats_left__gte", 0), ("seats_left__lte", models.F("seats"))),
                        name="slot_seats_left_within_seats",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("percent__range", (1, 90))), name="flow_slot_percent_in_1_to_90"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FlowBooking",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "slot",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="bookings", to="catalogue.flowslot"
                    ),
                ),
                (
                    "reservation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="flow_booking",
                        to="reservations.reservation",
                    ),
                ),
                ("seats", models.PositiveSmallIntegerField()),
                (
                    "contact",
                    models.CharField(
                        help_text="Hash of the guest's mail address or phone: what caps count", max_length=64
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("released_at", models.DateTimeField(blank=True, help_text="When the seats were released", null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["contact", "created_at"], name="flow_booking_of_contact"),
                    models.Index(
                        condition=models.Q(("released_at__isnull", True)), fields=["slot"], name="flow_booking_holding"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Review",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reviews",
                        to="catalogue.restaurant",
                    ),
                ),
                ("stars", models.IntegerField()),
                ("text", models.TextField(blank=True)),
                ("lang", models.CharField(blank=True, help_text="ISO 639-1", max_length=8)),
                ("author", models.CharField(max_length=120)),
                ("visited_on", models.DateField(blank=True, null=True)),
                ("helpful_count", models.PositiveIntegerField(default=0)),
                ("photo_count", models.PositiveSmallIntegerField(db_default=0, default=0)),
                ("owner_reply", models.TextField(blank=True, null=True)),
                ("owner_replied_at", models.DateTimeField(blank=True, null=True)),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.source",
                    ),
                ),
                (
                    "record",
                    models.CharField(
                        blank=True,
                        help_text="The source's own id of the restaurant, where an import says it",
                        max_length=120,
                        null=True,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["restaurant", "-created_at", "-id"], name="review_newest_of_restaurant"),
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True, fields=["updated_at"], name="review_by_update"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("stars__range", (1, 5))), name="review_stars_in_1_to_5"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("owner_replied_at__isnull", True), ("owner_reply__isnull", True)),
                            models.Q(("owner_replied_at__isnull", False), ("owner_reply__isnull", False)),
                            _connector="OR",
                        ),
                        name="review_reply_requires_timestamp",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ReviewChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("restaurant", models.UUIDField()),
                ("review", models.UUIDField()),
                ("stars", models.IntegerField()),
                ("length", models.IntegerField(help_text="Of the text, in characters")),
                ("helpful_count", models.IntegerField()),
                ("photo_count", models.IntegerField()),
                ("transaction", models.BigIntegerField(help_text="Of the database: which walks have seen the change")),
                ("at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["restaurant"], name="review_change_of_restaurant")],
            },
        ),
        migrations.CreateModel(
            name="Photo",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="photos",
                        to="catalogue.restaurant",
                    ),
                ),
                (
                    "review",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="photos",
                        to="catalogue.review",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("food", "Food"),
                            ("drink", "Drink"),
                            ("interior", "Interior"),
                            ("exterior", "Exterior"),
                            ("menu", "Menu"),
                            ("other", "Other"),
                        ],
                        default="food",
                        max_length=10,
                    ),
                ),
                ("caption", models.CharField(blank=True, max_length=300, null=True)),
                (
                    "alt",
                    models.CharField(blank=True, help_text="What the photo shows, for screen readers", max_length=300),
                ),
                ("author", models.CharField(blank=True, max_length=120, null=True)),
                ("license", models.CharField(help_text="SPDX identifier", max_length=60)),
                (
                    "source",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalogue.source",
                    ),
                ),
                ("width", models.PositiveIntegerField(help_text="Pixels")),
                ("height", models.PositiveIntegerField(help_text="Pixels")),
                ("file", models.CharField(blank=True, help_text="Name in the storage", max_length=200)),
                (
                    "card_seed",
                    models.BigIntegerField(
                        blank=True,
                        editable=False,
                        help_text="The card of a generated photo is drawn from it",
                        null=True,
                    ),
                ),
                ("is_hidden", models.BooleanField(default=False, help_text="Not shown", verbose_name="hidden")),
                ("created_at", models.DateTimeField()),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["restaurant", "-created_at", "-id"], name="photo_newest_of_restaurant"),
                    models.Index(
                        condition=models.Q(("review__isnull", False)), fields=["review"], name="photo_of_review"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("card_seed__isnull", False), ("file", "")),
                            models.Q(models.Q(("file", ""), _negated=True), ("card_seed__isnull", True)),
                            _connector="OR",
                        ),
                        name="photo_file_xor_card_seed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("height__gte", 1), ("width__gte", 1)), name="photo_size_positive"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Record",
            fields=[
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="record",
                        serialize=False,
                        to="catalogue.restaurant",
                    ),
                ),
                ("slug", models.CharField(max_length=120, unique=True)),
                ("status", models.CharField(max_length=20)),
                ("timezone", models.CharField(max_length=64)),
                (
                    "hours_known",
                    models.BooleanField(help_text="Known to be always closed is not the same as not known"),
                ),
                ("before", models.TextField()),
                ("hours", models.TextField(help_text="Members of the object `hours`, but for its state")),
                ("after", models.TextField()),
                (
                    "sources",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40), help_text="Sources of the data", size=None
                    ),
                ),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.BrinIndex(
                        autosummarize=True, fields=["updated_at"], name="record_by_update"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SearchRow",
            fields=[
                (
                    "restaurant",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="search_row",
                        serialize=False,
                        to="catalogue.restaurant",
                    ),
                ),
                ("market", models.CharField(max_length=40)),
                ("position", catalogue.models.postgres_fields.PointField(null=True)),
                ("latitude", models.FloatField(null=True)),
                ("longitude", models.FloatField(null=True)),
                ("timezone", models.CharField(max_length=64)),
                ("is_shut", models.BooleanField(help_text="Closed for a while, whatever the hours say")),
                (
                    "cuisines",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), size=None),
                ),
                ("price_level", models.IntegerField(null=True)),
                ("rating", models.DecimalField(decimal_places=1, max_digits=2, null=True)),
                ("review_count", models.IntegerField()),
                ("rank_stars", models.IntegerField(help_text="The rating in tenths; 0 without one")),
                ("rank_reviews", models.IntegerField()),
                ("former_stars", models.IntegerField()),
                ("former_reviews", models.IntegerField()),
                ("ranked_at", models.DateTimeField()),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=40),
                        help_text="Keys of the attributes that it has",
                        size=None,
                    ),
                ),
                ("neighborhood", models.CharField(help_text="Folded", max_length=120, null=True)),
                ("name", models.CharField(help_text="Folded", max_length=200)),
                ("line1", models.CharField(help_text="Folded", max_length=200, null=True)),
                ("document", django.contrib.postgres.search.SearchVectorField()),
                (
                    "sources",
                    django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None),
                ),
                ("card", models.TextField()),
                ("open_intervals", catalogue.models.postgres_fields.SpansField(null=True)),
                (
                    "intervals_until",
                    models.DateTimeField(help_text="Until when the intervals are computed; null: not yet", null=True),
                ),
                (
                    "intervals_missing",
                    models.GeneratedField(
                        db_persist=True,
                        expression=models.Q(("intervals_until__isnull", True)),
                        output_field=models.BooleanField(),
                    ),
                ),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GistIndex(fields=["position"], name="search_by_position"),
                    django.contrib.postgres.indexes.GinIndex(fields=["document"], name="search_by_document"),
                    django.contrib.postgres.indexes.GinIndex(fields=["cuisines"], name="search_by_cuisine"),
                    django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(models.F("name"), "gin_trgm_ops"),
                        name="search_by_name_trigrams",
                    ),
                    models.Index(
                        django.contrib.postgres.indexes.OpClass(models.F("name"), "text_pattern_ops"),
                        name="search_by_name",
                    ),
                    models.Index(fields=["line1"], name="search_by_address"),
                    models.Index(fields=["market", "-rank_reviews", "restaurant"], name="search_by_market_reviews"),
                    models.Index(fields=["-rank_reviews", "restaurant"], name="search_by_reviews"),
                    models.Index(fields=["-rank_stars", "-rank_reviews", "restaurant"], name="search_by_rating"),
                    models.Index(
                        fields=["market", "-rank_stars", "-rank_reviews", "restaurant"], name="search_by_market_rating"
                    ),
                    models.Index(fields=["ranked_at"], name="search_by_ranking"),
                    models.Index(
                        condition=models.Q(("intervals_missing", True)),
                        fields=["restaurant"],
                        name="search_without_intervals",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Kitchen",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="kitchens",
                        to="catalogue.searchrow",
                    ),
                ),
                ("cuisine", models.CharField(max_length=60)),
                ("position", catalogue.models.postgres_fields.PointField(null=True)),
                ("price_level", models.IntegerField(null=True)),
                ("rating", models.DecimalField(decimal_places=1, max_digits=2, null=True)),
            ],
            options={
                "indexes": [
                    django.contrib.postgres.indexes.GistIndex(
                        fields=["cuisine", "position", "price_level"], name="kitchen_by_cuisine_and_position"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("restaurant", "cuisine"), name="unique_restaurant_kitchen")
                ],
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="reports", to="catalogue.restaurant"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("closed", "Closed"),
                            ("moved", "Moved"),
                            ("hours_wrong", "Hours Wrong"),
                            ("phone_wrong", "Phone Wrong"),
                            ("address_wrong", "Address Wrong"),
                            ("location_wrong", "Location Wrong"),
                            ("duplicate", "Duplicate"),
                            ("not_a_restaurant", "Not A Restaurant"),
                            ("other", "Other"),
                        ],
                        max_length=20,
                    ),
                ),
                ("text", models.CharField(blank=True, max_length=1000)),
                (
                    "same_as",
                    models.ForeignKey(
                        blank=True,
                        help_text="Of a duplicate",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalogue.restaurant",
                    ),
                ),
                ("contact", models.CharField(blank=True, help_text="Email address for questions", max_length=254)),
                (
                    "reporter",
                    models.CharField(help_text="Hash of the origin, to count each reporter once", max_length=64),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("applied", "Applied"), ("dismissed", "Dismissed")],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state", "created_at"], name="report_oldest_of_state")],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("restaurant"),
                        models.F("kind"),
                        models.F("reporter"),
                        django.db.models.functions.text.MD5("text"),
                        models.F("same_as"),
                        condition=models.Q(("state", "open")),
                        name="unique_open_report",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("state", "open")),
                            models.Q(models.Q(("state", "open"), _negated=True), ("decided_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="decided_report_requires_timestamp",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                (
                    "restaurant",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="versions",
                        to="catalogue.restaurant",
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("at", models.DateTimeField()),
                ("actor", models.CharField(help_text="import:osm, staff:12, system", max_length=80)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("created", "Created"),
                            ("updated", "Updated"),
                            ("renamed", "Renamed"),
                            ("closed", "Closed"),
                            ("reopened", "Reopened"),
                            ("merged", "Merged"),
                            ("erased", "Erased"),
                        ],
                        max_length=10,
                    ),
                ),
                ("patch", models.JSONField(default=dict)),
                ("seq", models.BigIntegerField(null=True, unique=True)),
                (
                    "updated_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        editable=False,
                        help_text="Set by a trigger",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("seq__isnull", True)), fields=["id"], name="version_without_seq"),
                    models.Index(fields=["kind", "id"], name="version_by_kind"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("restaurant", "version"), name="unique_restaurant_version")
                ],
            },
        ),
        migrations.CreateModel(
            name="FormerSlug",
            fields=[
                ("slug", models.CharField(max_length=120, primary_key=True, serialize=False)),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="former_slugs",
                        to="catalogue.restaurant",
                    ),
                ),
                ("until", models.DateTimeField()),
            ],
        ),
        migrations.RunPython(create_references, migrations.RunPython.noop),
    ]
