"""Allergens and photos of menu items."""

import django.contrib.postgres.fields
import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import framework.public_ids
from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0002_functions_and_triggers"),
    ]

    operations = [
        run_sql_files("orders", "has_no_duplicates"),
        migrations.CreateModel(
            name="DishPhoto",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField()),
            ],
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="menuitem",
            name="added_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="menuitem",
            name="changed_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="menuitem",
            name="removed_delete",
        ),
        migrations.AddField(
            model_name="menuitem",
            name="allergens",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("gluten", "cereals containing gluten"),
                        ("crustaceans", "crustaceans"),
                        ("eggs", "eggs"),
                        ("fish", "fish"),
                        ("peanuts", "peanuts"),
                        ("soybeans", "soybeans"),
                        ("milk", "milk"),
                        ("nuts", "nuts"),
                        ("celery", "celery"),
                        ("mustard", "mustard"),
                        ("sesame", "sesame seeds"),
                        ("sulphites", "sulphur dioxide and sulphites"),
                        ("lupin", "lupin"),
                        ("molluscs", "molluscs"),
                    ],
                    max_length=11,
                ),
                blank=True,
                db_default=[],
                default=list,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="allergens",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("gluten", "cereals containing gluten"),
                        ("crustaceans", "crustaceans"),
                        ("eggs", "eggs"),
                        ("fish", "fish"),
                        ("peanuts", "peanuts"),
                        ("soybeans", "soybeans"),
                        ("milk", "milk"),
                        ("nuts", "nuts"),
                        ("celery", "celery"),
                        ("mustard", "mustard"),
                        ("sesame", "sesame seeds"),
                        ("sulphites", "sulphur dioxide and sulphites"),
                        ("lupin", "lupin"),
                        ("molluscs", "molluscs"),
                    ],
                    max_length=11,
                ),
                blank=True,
                db_default=[],
                default=list,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="menuitem",
            name="photo",
            field=models.OneToOneField(
                blank=True,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="item",
                to="orders.dishphoto",
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="photo",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.dishphoto",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menuitem",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "price", "ref", "sold_out_on", "tax_percent") VALUES (NEW."allergens", NEW."category_id", NEW."description", NEW."id", NEW."is_available", NEW."menu_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."photo_id", NEW."position", NEW."price", NEW."ref", NEW."sold_out_on", NEW."tax_percent"); RETURN NULL;',
                    hash="ce3efa7fc9226da8856325c67ca08a9d0c9e62ee",
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
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "price", "ref", "sold_out_on", "tax_percent") VALUES (OLD."allergens", OLD."category_id", OLD."description", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."photo_id", OLD."position", OLD."price", OLD."ref", OLD."sold_out_on", OLD."tax_percent"); RETURN NULL;',
                    hash="bc091ecef3eefac32c552fea148f7454e4a10725",
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
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "price", "ref", "sold_out_on", "tax_percent") VALUES (OLD."allergens", OLD."category_id", OLD."description", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."photo_id", OLD."position", OLD."price", OLD."ref", OLD."sold_out_on", OLD."tax_percent"); RETURN NULL;',
                    hash="9c75b6d9de29053a33ff8aa1106c99e7009784ee",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_4eb07",
                    table="orders_menuitem",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="menuitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "allergens__contained_by",
                        [
                            "gluten",
                            "crustaceans",
                            "eggs",
                            "fish",
                            "peanuts",
                            "soybeans",
                            "milk",
                            "nuts",
                            "celery",
                            "mustard",
                            "sesame",
                            "sulphites",
                            "lupin",
                            "molluscs",
                        ],
                    )
                ),
                name="menu_item_allergens_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="menuitem",
            constraint=models.CheckConstraint(
                condition=models.Func(
                    models.F("allergens"), function="has_no_duplicates", output_field=models.BooleanField()
                ),
                name="menu_item_allergens_listed_once",
            ),
        ),
    ]
