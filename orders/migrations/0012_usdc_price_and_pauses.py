"""The price of one USDC, and pauses and the limit of the ordering page."""

from decimal import Decimal

import django.core.validators
import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_language"), ("orders", "0011_no_usdc_without_a_price")]

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
            model_name="orderingsettings",
            name="max_waiting_orders",
            field=models.PositiveSmallIntegerField(
                db_default=20,
                default=20,
                help_text="Orders of the ordering page that wait to be accepted, at most; then it takes no more",
            ),
        ),
        migrations.AddField(
            model_name="orderingsettings",
            name="paused_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="orderingsettings",
            name="paused_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="orderingsettings",
            name="usdc_price",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="In the currency of the venue; it changes only here",
                max_digits=14,
                null=True,
                validators=[django.core.validators.MinValueValidator(Decimal("0.01"))],
                verbose_name="price of one USDC",
            ),
        ),
        migrations.AddField(
            model_name="orderingsettingschange",
            name="max_waiting_orders",
            field=models.PositiveSmallIntegerField(
                db_default=20,
                default=20,
                help_text="Orders of the ordering page that wait to be accepted, at most; then it takes no more",
            ),
        ),
        migrations.AddField(
            model_name="orderingsettingschange",
            name="paused_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="orderingsettingschange",
            name="paused_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="orderingsettingschange",
            name="usdc_price",
            field=models.DecimalField(
                blank=True,
                decimal_places=6,
                help_text="In the currency of the venue; it changes only here",
                max_digits=14,
                null=True,
                validators=[django.core.validators.MinValueValidator(Decimal("0.01"))],
                verbose_name="price of one USDC",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="orderingsettings",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "max_waiting_orders", "orders_per_slot", "page_fulfilments", "paused_at", "paused_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "usdc_price", "venue_id", "warn_minutes") VALUES (NEW."is_page_open", NEW."late_minutes", NEW."max_waiting_orders", NEW."orders_per_slot", NEW."page_fulfilments", NEW."paused_at", NEW."paused_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."venue_id", NEW."prep_minutes", NEW."printer_address", NEW."printer_port", NEW."slot_minutes", NEW."takes_usdc", NEW."usdc_price", NEW."venue_id", NEW."warn_minutes"); RETURN NULL;',
                    hash="046951d8510e38753cf8d729ad04e6cd1f64ab90",
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
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "max_waiting_orders", "orders_per_slot", "page_fulfilments", "paused_at", "paused_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "usdc_price", "venue_id", "warn_minutes") VALUES (OLD."is_page_open", OLD."late_minutes", OLD."max_waiting_orders", OLD."orders_per_slot", OLD."page_fulfilments", OLD."paused_at", OLD."paused_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."venue_id", OLD."prep_minutes", OLD."printer_address", OLD."printer_port", OLD."slot_minutes", OLD."takes_usdc", OLD."usdc_price", OLD."venue_id", OLD."warn_minutes"); RETURN NULL;',
                    hash="1a9134e718173a1e8ee14055f867ebe9fe110187",
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
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "max_waiting_orders", "orders_per_slot", "page_fulfilments", "paused_at", "paused_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "printer_address", "printer_port", "slot_minutes", "takes_usdc", "usdc_price", "venue_id", "warn_minutes") VALUES (OLD."is_page_open", OLD."late_minutes", OLD."max_waiting_orders", OLD."orders_per_slot", OLD."page_fulfilments", OLD."paused_at", OLD."paused_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."venue_id", OLD."prep_minutes", OLD."printer_address", OLD."printer_port", OLD."slot_minutes", OLD."takes_usdc", OLD."usdc_price", OLD."venue_id", OLD."warn_minutes"); RETURN NULL;',
                    hash="7dd24e8ccfac1e5b78cf1c803ff7d7a27229c0c0",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_23453",
                    table="orders_orderingsettings",
                    when="AFTER",
                ),
            ),
        ),
        AddConstraintNotValid(
            model_name="orderingsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("takes_usdc", False),
                    models.Q(("usdc_price__gt", 0), ("usdc_price__isnull", False)),
                    _connector="OR",
                ),
                name="ordering_settings_usdc_has_a_price",
                violation_error_message="State the price of one USDC.",
            ),
        ),
    ]
