"""Triggers write down what rows of people's settings were before each change."""

from decimal import Decimal

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0016_rows_keep_their_history"),
        ("orders", "0010_orders_by_their_last_move"),
    ]

    operations = [
        migrations.CreateModel(
            name="MenuCategoryChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                ("name", models.CharField(max_length=100)),
                ("position", models.PositiveSmallIntegerField(default=0)),
                (
                    "served_from",
                    models.TimeField(blank=True, help_text="By the venue's clock; empty: at all times", null=True),
                ),
                (
                    "served_until",
                    models.TimeField(
                        blank=True,
                        help_text="The first moment at which it is over; before the start: on the next day",
                        null=True,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="MenuChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                (
                    "is_published",
                    models.BooleanField(
                        default=False,
                        help_text="Orders must follow a published menu; without one they hold any id and have no prices",
                        verbose_name="published",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="MenuItemChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                ("ref", models.CharField(max_length=64, verbose_name="menu item id")),
                ("name", models.CharField(max_length=200)),
                ("description", models.CharField(blank=True, default="", max_length=500)),
                ("price", models.DecimalField(decimal_places=3, help_text="In the venue's currency", max_digits=10)),
                ("tax_percent", models.DecimalField(decimal_places=3, default=Decimal(0), max_digits=6)),
                (
                    "is_available",
                    models.BooleanField(
                        default=True, help_text="Off: not sold for the time being", verbose_name="available"
                    ),
                ),
                (
                    "sold_out_on",
                    models.DateField(
                        blank=True, help_text="Sold out on this day of the venue's, then back", null=True
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menu",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menuchange" ("created_at", "id", "is_published", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id") VALUES (NEW."created_at", NEW."id", NEW."is_published", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."venue_id"); RETURN NULL;',
                    hash="d56d65cbf862419d59d67631e169ee411fdd12b2",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_b6f33",
                    table="orders_menu",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menu",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "orders_menuchange" ("created_at", "id", "is_published", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id") VALUES (OLD."created_at", OLD."id", OLD."is_published", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."venue_id"); RETURN NULL;',
                    hash="72638d649d8585e957a18aad1031f72d4ec324e3",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_82097",
                    table="orders_menu",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menu",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menuchange" ("created_at", "id", "is_published", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "venue_id") VALUES (OLD."created_at", OLD."id", OLD."is_published", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."venue_id"); RETURN NULL;',
                    hash="70239b1a2e67394e4916ac6fd0330c0eb2529a28",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_27d0d",
                    table="orders_menu",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menucategory",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until") VALUES (NEW."id", NEW."menu_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."position", NEW."served_from", NEW."served_until"); RETURN NULL;',
                    hash="8f2d4755bf27cce53b0e7386dd896444a7634cfa",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_7ffe5",
                    table="orders_menucategory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menucategory",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until") VALUES (OLD."id", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."position", OLD."served_from", OLD."served_until"); RETURN NULL;',
                    hash="41f7a67fba5b5ec149d1543e1c42932f60719741",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_ae4af",
                    table="orders_menucategory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menucategory",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until") VALUES (OLD."id", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."position", OLD."served_from", OLD."served_until"); RETURN NULL;',
                    hash="25796e6e30852f77bdc9bd982d71295e8d96ae7c",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_8a109",
                    table="orders_menucategory",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menuitem",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menuitemchange" ("category_id", "description", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price", "ref", "sold_out_on", "tax_percent") VALUES (NEW."category_id", NEW."description", NEW."id", NEW."is_available", NEW."menu_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."position", NEW."price", NEW."ref", NEW."sold_out_on", NEW."tax_percent"); RETURN NULL;',
                    hash="d97608aa6472d54a83fe073a08c6c4320f20f1a6",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_38770",
                    table="orders_menuitem",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menuitem",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "orders_menuitemchange" ("category_id", "description", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price", "ref", "sold_out_on", "tax_percent") VALUES (OLD."category_id", OLD."description", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."position", OLD."price", OLD."ref", OLD."sold_out_on", OLD."tax_percent"); RETURN NULL;',
                    hash="c03e9ffdd0513efd0f4554667784a1443d9d7b1e",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_8be19",
                    table="orders_menuitem",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menuitem",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menuitemchange" ("category_id", "description", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price", "ref", "sold_out_on", "tax_percent") VALUES (OLD."category_id", OLD."description", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."position", OLD."price", OLD."ref", OLD."sold_out_on", OLD."tax_percent"); RETURN NULL;',
                    hash="f3c213648bf810037bf939086d3566c9c7ded5f4",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_4eb07",
                    table="orders_menuitem",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="menucategorychange",
            name="menu",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.menu",
            ),
        ),
        migrations.AddField(
            model_name="menucategorychange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.menucategory",
            ),
        ),
        migrations.AddField(
            model_name="menuchange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.menu",
            ),
        ),
        migrations.AddField(
            model_name="menuchange",
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
            model_name="menuitemchange",
            name="category",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.menucategory",
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="menu",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.menu",
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.menuitem",
            ),
        ),
    ]
