from decimal import Decimal

import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

import framework.public_ids
from framework.db.deferred_sql import create_references


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        TrigramExtension(),
        migrations.CreateModel(
            name="MenuUpload",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "venue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="menu_uploads",
                        to="accounts.venue",
                    ),
                ),
                ("file_name", models.CharField(max_length=200)),
                ("content", models.JSONField(help_text="What orders.menu.csv_format read")),
                ("created_at", models.DateTimeField()),
                ("applied_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["venue", "-created_at"], name="menu_upload_newest_of_venue")],
            },
        ),
        migrations.CreateModel(
            name="Menu",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "venue",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="menu", to="accounts.venue"
                    ),
                ),
                (
                    "is_published",
                    models.BooleanField(
                        default=False,
                        help_text="Orders are limited to a published menu; without one they accept any item id and have no prices",
                        verbose_name="published",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "triggers": [
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                ],
            },
        ),
        migrations.CreateModel(
            name="MenuChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="orders.menu",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
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
                (
                    "is_published",
                    models.BooleanField(
                        default=False,
                        help_text="Orders are limited to a published menu; without one they accept any item id and have no prices",
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
            name="MenuCategory",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "menu",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="categories",
                        to="orders.menu",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("position", models.PositiveSmallIntegerField(default=0)),
                (
                    "served_from",
                    models.TimeField(blank=True, help_text="In the venue's time zone; empty: always", null=True),
                ),
                (
                    "served_until",
                    models.TimeField(
                        blank=True,
                        help_text="End time; if it is earlier than the start, it is on the next day",
                        null=True,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "menu categories",
                "constraints": [
                    models.UniqueConstraint(fields=("menu", "name"), name="menu_category_named_once"),
                    models.UniqueConstraint(fields=("id", "menu"), name="menu_category_of_a_menu"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("served_from__isnull", True), ("served_until__isnull", True)),
                            models.Q(
                                ("served_from__isnull", False),
                                ("served_until__isnull", False),
                                models.Q(("served_from", models.F("served_until")), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="menu_category_is_served_from_and_until",
                        violation_error_message="Give both times, and not the same, or neither.",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                ],
            },
        ),
        migrations.CreateModel(
            name="MenuCategoryChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="orders.menucategory",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
                (
                    "menu",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="orders.menu",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("position", models.PositiveSmallIntegerField(default=0)),
                (
                    "served_from",
                    models.TimeField(blank=True, help_text="In the venue's time zone; empty: always", null=True),
                ),
                (
                    "served_until",
                    models.TimeField(
                        blank=True,
                        help_text="End time; if it is earlier than the start, it is on the next day",
                        null=True,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="MenuItem",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "menu",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="orders.menu",
                    ),
                ),
                (
                    "category",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.RESTRICT, related_name="items", to="orders.menucategory"
                    ),
                ),
                ("ref", models.CharField(max_length=64, verbose_name="menu item id")),
                ("name", models.CharField(max_length=200)),
                ("description", models.CharField(blank=True, default="", max_length=500)),
                ("price", models.DecimalField(decimal_places=3, help_text="In the venue's currency", max_digits=10)),
                ("tax_percent", models.DecimalField(decimal_places=3, default=Decimal(0), max_digits=6)),
                (
                    "is_available",
                    models.BooleanField(
                        default=True, help_text="If off, the dish cannot be ordered", verbose_name="available"
                    ),
                ),
                (
                    "sold_out_on",
                    models.DateField(
                        blank=True, help_text="Sold out on this day, in the venue's time zone", null=True
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("menu", "ref"), name="menu_item_id_once_on_a_menu"),
                    models.CheckConstraint(condition=models.Q(("price__gte", 0)), name="menu_item_price_not_negative"),
                    models.CheckConstraint(
                        condition=models.Q(("tax_percent__gte", 0), ("tax_percent__lte", 100)),
                        name="menu_item_tax_from_0_to_100_percent",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ref", ""), _negated=True), name="menu_item_id_not_empty"
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                ],
            },
        ),
        migrations.CreateModel(
            name="MenuItemChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                (
                    "pgh_obj",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="orders.menuitem",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
                (
                    "menu",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="orders.menu",
                    ),
                ),
                (
                    "category",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="orders.menucategory",
                    ),
                ),
                ("ref", models.CharField(max_length=64, verbose_name="menu item id")),
                ("name", models.CharField(max_length=200)),
                ("description", models.CharField(blank=True, default="", max_length=500)),
                ("price", models.DecimalField(decimal_places=3, help_text="In the venue's currency", max_digits=10)),
                ("tax_percent", models.DecimalField(decimal_places=3, default=Decimal(0), max_digits=6)),
                (
                    "is_available",
                    models.BooleanField(
                        default=True, help_text="If off, the dish cannot be ordered", verbose_name="available"
                    ),
                ),
                (
                    "sold_out_on",
                    models.DateField(
                        blank=True, help_text="Sold out on this day, in the venue's time zone", null=True
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Order",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "venue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="orders",
                        to="accounts.venue",
                    ),
                ),
                (
                    "number",
                    models.PositiveIntegerField(help_text="Number for the counter; starts at 1 each business day"),
                ),
                ("business_date", models.DateField(help_text="The date in the venue's time zone")),
                (
                    "status",
                    models.CharField(
                        choices=[("pending", "Pending"), ("completed", "Completed"), ("cancelled", "Cancelled")],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("customer_id", models.CharField(max_length=64)),
                (
                    "delivery_address",
                    models.CharField(blank=True, help_text="Empty: pick-up", max_length=500, null=True),
                ),
                ("payment_method", models.CharField(max_length=40)),
                ("currency", models.CharField(max_length=3)),
                ("subtotal", models.DecimalField(blank=True, decimal_places=3, max_digits=18, null=True)),
                ("tax", models.DecimalField(blank=True, decimal_places=3, max_digits=18, null=True)),
                ("total", models.DecimalField(blank=True, decimal_places=3, max_digits=18, null=True)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("completed_at", models.DateTimeField(blank=True, null=True)),
                ("cancelled_at", models.DateTimeField(blank=True, null=True)),
                (
                    "cancelled_because",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Visible to the venue's team only",
                        max_length=300,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["venue", "-created_at", "-id"], name="order_newest_of_venue"),
                    models.Index(fields=["venue", "status", "-created_at", "-id"], name="order_newest_of_status"),
                    models.Index(
                        condition=models.Q(("completed_at__isnull", False)),
                        fields=["venue", "-completed_at", "-id"],
                        name="order_last_completed",
                    ),
                    models.Index(
                        condition=models.Q(("cancelled_at__isnull", False)),
                        fields=["venue", "-cancelled_at", "-id"],
                        name="order_last_cancelled",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("venue", "business_date", "number"), name="order_number_once_a_day"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("cancelled_at__isnull", True), ("completed_at__isnull", True), ("status", "pending")
                            ),
                            models.Q(
                                ("cancelled_at__isnull", True),
                                ("completed_at__isnull", False),
                                ("status", "completed"),
                            ),
                            models.Q(
                                ("cancelled_at__isnull", False),
                                ("completed_at__isnull", True),
                                ("status", "cancelled"),
                            ),
                            _connector="OR",
                        ),
                        name="order_moments_tell_its_status",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status", "cancelled"), ("cancelled_because", ""), _connector="OR"),
                        name="order_tells_why_it_is_cancelled_only_then",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OrderItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "order",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="orders.order",
                    ),
                ),
                ("position", models.PositiveSmallIntegerField()),
                ("menu_item_id", models.CharField(max_length=64)),
                ("name", models.CharField(blank=True, max_length=200, null=True)),
                ("quantity", models.PositiveIntegerField()),
                ("notes", models.CharField(blank=True, default="", max_length=500)),
                ("unit_price", models.DecimalField(blank=True, decimal_places=3, max_digits=18, null=True)),
                ("tax_percent", models.DecimalField(blank=True, decimal_places=3, max_digits=6, null=True)),
                ("line_total", models.DecimalField(blank=True, decimal_places=3, max_digits=18, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("order", "position"), name="order_has_a_line_at_a_position_once"),
                    models.CheckConstraint(
                        condition=models.Q(("quantity__range", (1, 999))), name="order_item_quantity_in_1_to_999"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OrderNumber",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "venue",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.venue",
                    ),
                ),
                ("business_date", models.DateField()),
                ("last", models.PositiveIntegerField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("venue", "business_date"), name="one_count_per_venue_and_day")
                ],
            },
        ),
        migrations.RunPython(create_references, migrations.RunPython.noop),
    ]
