"""A moment until which a dish is sold out, and translations of categories and charges."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models

import orders.models.refs


class Migration(migrations.Migration):
    dependencies = [
        ("orders", "0009_board_settings"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="chargerule",
            name="added_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="chargerule",
            name="changed_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="chargerule",
            name="removed_delete",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="menucategory",
            name="added_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="menucategory",
            name="changed_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="menucategory",
            name="removed_delete",
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
            model_name="chargerule",
            name="translations",
            field=models.JSONField(
                blank=True, db_default={}, default=dict, help_text="By language: {'da': {'name': ...}}"
            ),
        ),
        migrations.AddField(
            model_name="chargerulechange",
            name="translations",
            field=models.JSONField(
                blank=True, db_default={}, default=dict, help_text="By language: {'da': {'name': ...}}"
            ),
        ),
        migrations.AddField(
            model_name="menucategory",
            name="translations",
            field=models.JSONField(
                blank=True, db_default={}, default=dict, help_text="By language: {'da': {'name': ...}}"
            ),
        ),
        migrations.AddField(
            model_name="menucategorychange",
            name="translations",
            field=models.JSONField(
                blank=True, db_default={}, default=dict, help_text="By language: {'da': {'name': ...}}"
            ),
        ),
        migrations.AddField(
            model_name="menuitem",
            name="sold_out_until",
            field=models.DateTimeField(
                blank=True, help_text="Sold out until this moment, and available again by itself", null=True
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="sold_out_until",
            field=models.DateTimeField(
                blank=True, help_text="Sold out until this moment, and available again by itself", null=True
            ),
        ),
        migrations.AlterField(
            model_name="menuitem",
            name="ref",
            field=models.CharField(
                max_length=64, validators=[orders.models.refs.validate_ref], verbose_name="menu item id"
            ),
        ),
        migrations.AlterField(
            model_name="menuitemchange",
            name="ref",
            field=models.CharField(
                max_length=64, validators=[orders.models.refs.validate_ref], verbose_name="menu item id"
            ),
        ),
        migrations.AlterField(
            model_name="modifier",
            name="ref",
            field=models.CharField(
                max_length=64, validators=[orders.models.refs.validate_ref], verbose_name="modifier id"
            ),
        ),
        migrations.AlterField(
            model_name="modifierchange",
            name="ref",
            field=models.CharField(
                max_length=64, validators=[orders.models.refs.validate_ref], verbose_name="modifier id"
            ),
        ),
        migrations.AlterField(
            model_name="modifiergroup",
            name="ref",
            field=models.CharField(
                max_length=64, validators=[orders.models.refs.validate_group_ref], verbose_name="modifier group id"
            ),
        ),
        migrations.AlterField(
            model_name="modifiergroupchange",
            name="ref",
            field=models.CharField(
                max_length=64, validators=[orders.models.refs.validate_group_ref], verbose_name="modifier group id"
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="chargerule",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "translations", "type", "venue_id") VALUES (NEW."amount", NEW."free_from", NEW."fulfilments", NEW."id", NEW."name", NEW."percent", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."position", NEW."tax_percent", NEW."translations", NEW."type", NEW."venue_id"); RETURN NULL;',
                    hash="a18cbc25e27150cec4b89108d495c05e7f14b4a7",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_0b370",
                    table="orders_chargerule",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="chargerule",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "translations", "type", "venue_id") VALUES (OLD."amount", OLD."free_from", OLD."fulfilments", OLD."id", OLD."name", OLD."percent", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."position", OLD."tax_percent", OLD."translations", OLD."type", OLD."venue_id"); RETURN NULL;',
                    hash="b29d36ae6b3929d7bd5ae5c8e091aa7277806a4f",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_a8d1a",
                    table="orders_chargerule",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="chargerule",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "translations", "type", "venue_id") VALUES (OLD."amount", OLD."free_from", OLD."fulfilments", OLD."id", OLD."name", OLD."percent", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."position", OLD."tax_percent", OLD."translations", OLD."type", OLD."venue_id"); RETURN NULL;',
                    hash="87b9820bc4bed90feb895ea8a9e70bb11bf015b0",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_eab81",
                    table="orders_chargerule",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menucategory",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until", "translations") VALUES (NEW."id", NEW."menu_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."position", NEW."served_from", NEW."served_until", NEW."translations"); RETURN NULL;',
                    hash="aba603ab25481e705fdc7b1da3d5f270b310c8eb",
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
                    func='INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until", "translations") VALUES (OLD."id", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."position", OLD."served_from", OLD."served_until", OLD."translations"); RETURN NULL;',
                    hash="d4960ca7f443a24bed44491a0a2aa1561c109fb2",
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
                    func='INSERT INTO "orders_menucategorychange" ("id", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "served_from", "served_until", "translations") VALUES (OLD."id", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."position", OLD."served_from", OLD."served_until", OLD."translations"); RETURN NULL;',
                    hash="9833e34c53a0d13296d2d0a6b243979c82894341",
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
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "sold_out_until", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (NEW."allergens", NEW."category_id", NEW."description", NEW."diets", NEW."id", NEW."is_available", NEW."menu_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."photo_id", NEW."position", NEW."prep_minutes", NEW."price", NEW."ref", NEW."sold_out_on", NEW."sold_out_until", NEW."station", NEW."takeaway_tax_percent", NEW."tax_percent", NEW."translations"); RETURN NULL;',
                    hash="42a72c1a707d4242e7122f5833973d6266c32b09",
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
                    condition='WHEN (OLD."allergens" IS DISTINCT FROM (NEW."allergens") OR OLD."category_id" IS DISTINCT FROM (NEW."category_id") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."diets" IS DISTINCT FROM (NEW."diets") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_available" IS DISTINCT FROM (NEW."is_available") OR OLD."menu_id" IS DISTINCT FROM (NEW."menu_id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."photo_id" IS DISTINCT FROM (NEW."photo_id") OR OLD."position" IS DISTINCT FROM (NEW."position") OR OLD."prep_minutes" IS DISTINCT FROM (NEW."prep_minutes") OR OLD."price" IS DISTINCT FROM (NEW."price") OR OLD."ref" IS DISTINCT FROM (NEW."ref") OR OLD."sold_out_on" IS DISTINCT FROM (NEW."sold_out_on") OR OLD."sold_out_until" IS DISTINCT FROM (NEW."sold_out_until") OR OLD."station" IS DISTINCT FROM (NEW."station") OR OLD."takeaway_tax_percent" IS DISTINCT FROM (NEW."takeaway_tax_percent") OR OLD."tax_percent" IS DISTINCT FROM (NEW."tax_percent") OR OLD."translations" IS DISTINCT FROM (NEW."translations"))',
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "sold_out_until", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (OLD."allergens", OLD."category_id", OLD."description", OLD."diets", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."photo_id", OLD."position", OLD."prep_minutes", OLD."price", OLD."ref", OLD."sold_out_on", OLD."sold_out_until", OLD."station", OLD."takeaway_tax_percent", OLD."tax_percent", OLD."translations"); RETURN NULL;',
                    hash="416e2ff16fbdb6effd6cac38632f7146447d6434",
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
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "sold_out_until", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (OLD."allergens", OLD."category_id", OLD."description", OLD."diets", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."photo_id", OLD."position", OLD."prep_minutes", OLD."price", OLD."ref", OLD."sold_out_on", OLD."sold_out_until", OLD."station", OLD."takeaway_tax_percent", OLD."tax_percent", OLD."translations"); RETURN NULL;',
                    hash="5a43753a1709cfe13dc7f6276deb32d67e2ce749",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_4eb07",
                    table="orders_menuitem",
                    when="AFTER",
                ),
            ),
        ),
    ]
