"""Triggers write down what rows of people's settings were before each change."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0016_rows_keep_their_history"),
        ("reservations", "0007_guests_book_online"),
    ]

    operations = [
        migrations.CreateModel(
            name="ClosureChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                ("first_date", models.DateField(help_text="By the venue's clock")),
                ("last_date", models.DateField(help_text="Included")),
                (
                    "reason",
                    models.CharField(
                        blank=True, default="", help_text="Told to guests: Closed for Easter", max_length=200
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ServicePeriodChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                ("name", models.CharField(max_length=100)),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), help_text="0 is Monday, 6 is Sunday", size=None
                    ),
                ),
                ("first_seating", models.TimeField(help_text="By the venue's clock")),
                (
                    "last_seating",
                    models.TimeField(help_text="By the venue's clock; before the first: on the next day"),
                ),
                (
                    "slot_min",
                    models.PositiveSmallIntegerField(default=15, help_text="Minutes from one seating to the next"),
                ),
                (
                    "pacing_covers",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="So many guests may begin at one time; empty: as many as have room",
                        null=True,
                    ),
                ),
                (
                    "turn_2_min",
                    models.PositiveSmallIntegerField(default=90, help_text="Minutes that up to 2 guests stay"),
                ),
                ("turn_4_min", models.PositiveSmallIntegerField(default=105, help_text="Up to 4")),
                ("turn_6_min", models.PositiveSmallIntegerField(default=120, help_text="Up to 6")),
                ("turn_more_min", models.PositiveSmallIntegerField(default=150, help_text="More than 6")),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="TableChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                ("name", models.CharField(max_length=20)),
                (
                    "seats_min",
                    models.PositiveSmallIntegerField(default=1, help_text="The smallest party that it is given to"),
                ),
                ("seats_max", models.PositiveSmallIntegerField(help_text="The largest")),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Of tables of one size, the lowest is given first"
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True, help_text="Off: not given to new reservations", verbose_name="active"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="closure",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "reservations_closurechange" ("first_date", "id", "last_date", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "venue_id") VALUES (NEW."first_date", NEW."id", NEW."last_date", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."reason", NEW."venue_id"); RETURN NULL;',
                    hash="10e50a80e1cf50d15807a23450310a1444b806cd",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_a900e",
                    table="reservations_closure",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="closure",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "reservations_closurechange" ("first_date", "id", "last_date", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "venue_id") VALUES (OLD."first_date", OLD."id", OLD."last_date", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."reason", OLD."venue_id"); RETURN NULL;',
                    hash="c321c292e8c8d9f986f7fd37a1e185fa41e70fc0",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_ad2ed",
                    table="reservations_closure",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="closure",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "reservations_closurechange" ("first_date", "id", "last_date", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "reason", "venue_id") VALUES (OLD."first_date", OLD."id", OLD."last_date", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."reason", OLD."venue_id"); RETURN NULL;',
                    hash="53add195ae4124c163625f05471adc1ab5029a78",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_d66ae",
                    table="reservations_closure",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="serviceperiod",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "reservations_serviceperiodchange" ("first_seating", "id", "last_seating", "name", "pacing_covers", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min", "venue_id", "weekdays") VALUES (NEW."first_seating", NEW."id", NEW."last_seating", NEW."name", NEW."pacing_covers", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."slot_min", NEW."turn_2_min", NEW."turn_4_min", NEW."turn_6_min", NEW."turn_more_min", NEW."venue_id", NEW."weekdays"); RETURN NULL;',
                    hash="fd21e0de643d65b3d5e1bf5717553b9ee3ed2206",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_f8265",
                    table="reservations_serviceperiod",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="serviceperiod",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "reservations_serviceperiodchange" ("first_seating", "id", "last_seating", "name", "pacing_covers", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min", "venue_id", "weekdays") VALUES (OLD."first_seating", OLD."id", OLD."last_seating", OLD."name", OLD."pacing_covers", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."slot_min", OLD."turn_2_min", OLD."turn_4_min", OLD."turn_6_min", OLD."turn_more_min", OLD."venue_id", OLD."weekdays"); RETURN NULL;',
                    hash="4a87673735c40c6ed4ef29f4b28c2782e1e3b268",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_3232a",
                    table="reservations_serviceperiod",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="serviceperiod",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "reservations_serviceperiodchange" ("first_seating", "id", "last_seating", "name", "pacing_covers", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "slot_min", "turn_2_min", "turn_4_min", "turn_6_min", "turn_more_min", "venue_id", "weekdays") VALUES (OLD."first_seating", OLD."id", OLD."last_seating", OLD."name", OLD."pacing_covers", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."slot_min", OLD."turn_2_min", OLD."turn_4_min", OLD."turn_6_min", OLD."turn_more_min", OLD."venue_id", OLD."weekdays"); RETURN NULL;',
                    hash="4d563fb9f204e26900dbd6ef1c3714ac34d52a4c",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_2ce83",
                    table="reservations_serviceperiod",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="table",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "reservations_tablechange" ("area_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "seats_max", "seats_min", "venue_id") VALUES (NEW."area_id", NEW."id", NEW."is_active", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."priority", NEW."seats_max", NEW."seats_min", NEW."venue_id"); RETURN NULL;',
                    hash="376d48dfabe638385e1786ddfb0c88b3034ca69d",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_f157e",
                    table="reservations_table",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="table",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "reservations_tablechange" ("area_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "seats_max", "seats_min", "venue_id") VALUES (OLD."area_id", OLD."id", OLD."is_active", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."priority", OLD."seats_max", OLD."seats_min", OLD."venue_id"); RETURN NULL;',
                    hash="c6143f15a0b59611caf5598253794da0242e1788",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_cead7",
                    table="reservations_table",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="table",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "reservations_tablechange" ("area_id", "id", "is_active", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "priority", "seats_max", "seats_min", "venue_id") VALUES (OLD."area_id", OLD."id", OLD."is_active", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."priority", OLD."seats_max", OLD."seats_min", OLD."venue_id"); RETURN NULL;',
                    hash="409b792216c47ad36ebdd9a2f75c36c73cac5976",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_d22e6",
                    table="reservations_table",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="closurechange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="reservations.closure",
            ),
        ),
        migrations.AddField(
            model_name="closurechange",
            name="venue",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.venue",
            ),
        ),
        migrations.AddField(
            model_name="serviceperiodchange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="reservations.serviceperiod",
            ),
        ),
        migrations.AddField(
            model_name="serviceperiodchange",
            name="venue",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.venue",
            ),
        ),
        migrations.AddField(
            model_name="tablechange",
            name="area",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="reservations.area",
            ),
        ),
        migrations.AddField(
            model_name="tablechange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="reservations.table",
            ),
        ),
        migrations.AddField(
            model_name="tablechange",
            name="venue",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.venue",
            ),
        ),
    ]
