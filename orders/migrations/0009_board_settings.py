"""The printer of a venue, and when the ticket of an order was printed."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_order_stages"),
        ("orders", "0008_order_with_contact"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="orderingsettings",
            name="added_insert",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="orderingsettings",
            name="changed_update",
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name="orderingsettings",
            name="removed_delete",
        ),
        migrations.AddField(
            model_name="order",
            name="ticket_printed_at",
            field=models.DateTimeField(blank=True, help_text="By the printer of the venue", null=True),
        ),
        migrations.AddField(
            model_name="orderingsettings",
            name="printer_address",
            field=models.GenericIPAddressField(
                blank=True,
                help_text="IP address of the ESC/POS printer for kitchen tickets",
                null=True,
                verbose_name="printer",
            ),
        ),
        migrations.AddField(
            model_name="orderingsettings",
            name="printer_port",
            field=models.PositiveIntegerField(db_default=9100, default=9100),
        ),
        migrations.AddField(
            model_name="orderingsettingschange",
            name="printer_address",
            field=models.GenericIPAddressField(
                blank=True,
                help_text="IP address of the ESC/POS printer for kitchen tickets",
                null=True,
                verbose_name="printer",
            ),
        ),
        migrations.AddField(
            model_name="orderingsettingschange",
            name="printer_port",
            field=models.PositiveIntegerField(db_default=9100, default=9100),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="orderingsettings",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "orders_per_slot", "page_fulfilments", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "venue_id", "warn_minutes") VALUES (NEW."is_page_open", NEW."late_minutes", NEW."orders_per_slot", NEW."page_fulfilments", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."venue_id", NEW."prep_minutes", NEW."printer_address", NEW."printer_port", NEW."slot_minutes", NEW."takes_usdc", NEW."venue_id", NEW."warn_minutes"); RETURN NULL;',
                    hash="f57a87e6c8119e57f58cf4e8329e1e748fffb581",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_6c1e9",
                    table="orders_orderingsettings",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="orderingsettings",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "orders_per_slot", "page_fulfilments", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "venue_id", "warn_minutes") VALUES (OLD."is_page_open", OLD."late_minutes", OLD."orders_per_slot", OLD."page_fulfilments", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."venue_id", OLD."prep_minutes", OLD."printer_address", OLD."printer_port", OLD."slot_minutes", OLD."takes_usdc", OLD."venue_id", OLD."warn_minutes"); RETURN NULL;',
                    hash="d8be7a70e5daf38da48b4ce185e867ca11d0b22d",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_2d660",
                    table="orders_orderingsettings",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="orderingsettings",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "orders_per_slot", "page_fulfilments", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "venue_id", "warn_minutes") VALUES (OLD."is_page_open", OLD."late_minutes", OLD."orders_per_slot", OLD."page_fulfilments", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."venue_id", OLD."prep_minutes", OLD."printer_address", OLD."printer_port", OLD."slot_minutes", OLD."takes_usdc", OLD."venue_id", OLD."warn_minutes"); RETURN NULL;',
                    hash="0f5d1889bd74fbc43fb4785cd540ac32c4b988be",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_23453",
                    table="orders_orderingsettings",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="orderingsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("printer_port__range", (9100, 9109))),
                name="ordering_settings_port_of_a_printer",
                violation_error_message="A printer's port is from 9100 to 9109.",
            ),
        ),
    ]
