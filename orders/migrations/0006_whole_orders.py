"""Modifiers, diets, translations, stations, stock, fulfilment, charges, tips and the settings of orders."""

from decimal import Decimal

import django.contrib.postgres.fields
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

import framework.public_ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0006_order_stages"),
        ("orders", "0005_order_lists"),
    ]

    operations = [
        migrations.CreateModel(
            name="ChargeRule",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("service_charge", "service charge"),
                            ("delivery_fee", "delivery fee"),
                            ("packaging_fee", "packaging fee"),
                            ("fee", "other fee"),
                        ],
                        max_length=14,
                    ),
                ),
                ("name", models.CharField(help_text="Shown to guests", max_length=100)),
                (
                    "percent",
                    models.DecimalField(
                        blank=True,
                        decimal_places=3,
                        help_text="Of the sum of the lines; or an amount",
                        max_digits=6,
                        null=True,
                    ),
                ),
                (
                    "amount",
                    models.DecimalField(
                        blank=True,
                        decimal_places=3,
                        help_text="In the venue's currency; or a percentage",
                        max_digits=10,
                        null=True,
                    ),
                ),
                ("tax_percent", models.DecimalField(decimal_places=3, default=Decimal(0), max_digits=6)),
                (
                    "fulfilments",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[("pickup", "Pickup"), ("delivery", "Delivery"), ("dine_in", "Dine In")],
                            max_length=8,
                        ),
                        blank=True,
                        default=list,
                        help_text="Empty: all orders",
                        size=None,
                    ),
                ),
                (
                    "free_from",
                    models.DecimalField(
                        blank=True,
                        decimal_places=3,
                        help_text="No charge from this sum of the lines on",
                        max_digits=10,
                        null=True,
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="ChargeRuleChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
                (
                    "type",
                    models.CharField(
                        choices=[
                            ("service_charge", "service charge"),
                            ("delivery_fee", "delivery fee"),
                            ("packaging_fee", "packaging fee"),
                            ("fee", "other fee"),
                        ],
                        max_length=14,
                    ),
                ),
                ("name", models.CharField(help_text="Shown to guests", max_length=100)),
                (
                    "percent",
                    models.DecimalField(
                        blank=True,
                        decimal_places=3,
                        help_text="Of the sum of the lines; or an amount",
                        max_digits=6,
                        null=True,
                    ),
                ),
                (
                    "amount",
                    models.DecimalField(
                        blank=True,
                        decimal_places=3,
                        help_text="In the venue's currency; or a percentage",
                        max_digits=10,
                        null=True,
                    ),
                ),
                ("tax_percent", models.DecimalField(decimal_places=3, default=Decimal(0), max_digits=6)),
                (
                    "fulfilments",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[("pickup", "Pickup"), ("delivery", "Delivery"), ("dine_in", "Dine In")],
                            max_length=8,
                        ),
                        blank=True,
                        default=list,
                        help_text="Empty: all orders",
                        size=None,
                    ),
                ),
                (
                    "free_from",
                    models.DecimalField(
                        blank=True,
                        decimal_places=3,
                        help_text="No charge from this sum of the lines on",
                        max_digits=10,
                        null=True,
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ItemModifierGroup",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="ItemModifierGroupChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Modifier",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("ref", models.CharField(max_length=64, verbose_name="modifier id")),
                ("name", models.CharField(max_length=100)),
                (
                    "price_delta",
                    models.DecimalField(
                        decimal_places=3, default=Decimal(0), help_text="Added to the price of the dish", max_digits=10
                    ),
                ),
                (
                    "is_default",
                    models.BooleanField(
                        default=False,
                        help_text="Chosen if the guest must choose and chooses nothing",
                        verbose_name="default",
                    ),
                ),
                ("is_available", models.BooleanField(default=True, verbose_name="available")),
                (
                    "allergens",
                    django.contrib.postgres.fields.ArrayField(
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
                ("translations", models.JSONField(blank=True, default=dict)),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name="ModifierChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
                ("ref", models.CharField(max_length=64, verbose_name="modifier id")),
                ("name", models.CharField(max_length=100)),
                (
                    "price_delta",
                    models.DecimalField(
                        decimal_places=3, default=Decimal(0), help_text="Added to the price of the dish", max_digits=10
                    ),
                ),
                (
                    "is_default",
                    models.BooleanField(
                        default=False,
                        help_text="Chosen if the guest must choose and chooses nothing",
                        verbose_name="default",
                    ),
                ),
                ("is_available", models.BooleanField(default=True, verbose_name="available")),
                (
                    "allergens",
                    django.contrib.postgres.fields.ArrayField(
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
                ("translations", models.JSONField(blank=True, default=dict)),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ModifierGroup",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("ref", models.CharField(max_length=64, verbose_name="modifier group id")),
                ("name", models.CharField(max_length=100)),
                (
                    "min_choices",
                    models.PositiveSmallIntegerField(default=0, help_text="1 or more: the guest must choose"),
                ),
                ("max_choices", models.PositiveSmallIntegerField(default=1)),
                (
                    "translations",
                    models.JSONField(blank=True, default=dict, help_text="By language: {'da': {'name': ...}}"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ModifierGroupChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
                ("ref", models.CharField(max_length=64, verbose_name="modifier group id")),
                ("name", models.CharField(max_length=100)),
                (
                    "min_choices",
                    models.PositiveSmallIntegerField(default=0, help_text="1 or more: the guest must choose"),
                ),
                ("max_choices", models.PositiveSmallIntegerField(default=1)),
                (
                    "translations",
                    models.JSONField(blank=True, default=dict, help_text="By language: {'da': {'name': ...}}"),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="OrderingSettings",
            fields=[
                (
                    "venue",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="ordering_settings",
                        serialize=False,
                        to="accounts.venue",
                    ),
                ),
                (
                    "prep_minutes",
                    models.PositiveSmallIntegerField(
                        default=15, help_text="Minutes from an order to its handover; a dish may take longer"
                    ),
                ),
                (
                    "slot_minutes",
                    models.PositiveSmallIntegerField(default=15, help_text="Length of a slot of the capacity"),
                ),
                (
                    "orders_per_slot",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Orders that the kitchen can finish in a slot; empty: any number",
                        null=True,
                    ),
                ),
                (
                    "warn_minutes",
                    models.PositiveSmallIntegerField(
                        default=10, help_text="Minutes after which an order is marked on the board"
                    ),
                ),
                (
                    "late_minutes",
                    models.PositiveSmallIntegerField(
                        default=20, help_text="Minutes after which an order is marked as late on the board"
                    ),
                ),
                (
                    "is_page_open",
                    models.BooleanField(
                        default=False, help_text="Guests can order on the ordering page", verbose_name="ordering page"
                    ),
                ),
                (
                    "page_fulfilments",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[("pickup", "Pickup"), ("delivery", "Delivery"), ("dine_in", "Dine In")],
                            max_length=8,
                        ),
                        blank=True,
                        default=list,
                        help_text="How orders of the ordering page reach the guest; empty: pick-up and at the table",
                        size=None,
                    ),
                ),
                (
                    "takes_usdc",
                    models.BooleanField(
                        default=False, help_text="Guests can pay on the ordering page in USDC", verbose_name="USDC"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "ordering settings",
            },
        ),
        migrations.CreateModel(
            name="OrderingSettingsChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                (
                    "prep_minutes",
                    models.PositiveSmallIntegerField(
                        default=15, help_text="Minutes from an order to its handover; a dish may take longer"
                    ),
                ),
                (
                    "slot_minutes",
                    models.PositiveSmallIntegerField(default=15, help_text="Length of a slot of the capacity"),
                ),
                (
                    "orders_per_slot",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Orders that the kitchen can finish in a slot; empty: any number",
                        null=True,
                    ),
                ),
                (
                    "warn_minutes",
                    models.PositiveSmallIntegerField(
                        default=10, help_text="Minutes after which an order is marked on the board"
                    ),
                ),
                (
                    "late_minutes",
                    models.PositiveSmallIntegerField(
                        default=20, help_text="Minutes after which an order is marked as late on the board"
                    ),
                ),
                (
                    "is_page_open",
                    models.BooleanField(
                        default=False, help_text="Guests can order on the ordering page", verbose_name="ordering page"
                    ),
                ),
                (
                    "page_fulfilments",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[("pickup", "Pickup"), ("delivery", "Delivery"), ("dine_in", "Dine In")],
                            max_length=8,
                        ),
                        blank=True,
                        default=list,
                        help_text="How orders of the ordering page reach the guest; empty: pick-up and at the table",
                        size=None,
                    ),
                ),
                (
                    "takes_usdc",
                    models.BooleanField(
                        default=False, help_text="Guests can pay on the ordering page in USDC", verbose_name="USDC"
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="OrderSlot",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("starts_at", models.DateTimeField()),
                ("orders", models.PositiveIntegerField()),
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
            name="diets",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("vegetarian", "vegetarian"),
                        ("vegan", "vegan"),
                        ("gluten_free", "gluten-free"),
                        ("lactose_free", "lactose-free"),
                        ("halal", "halal"),
                        ("kosher", "kosher"),
                    ],
                    max_length=12,
                ),
                blank=True,
                db_default=[],
                default=list,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="menuitem",
            name="prep_minutes",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text="If it takes longer than the venue's preparation time", null=True
            ),
        ),
        migrations.AddField(
            model_name="menuitem",
            name="station",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Where it is made: grill, bar", max_length=40
            ),
        ),
        migrations.AddField(
            model_name="menuitem",
            name="stock",
            field=models.PositiveIntegerField(
                blank=True, help_text="Portions left; each order takes its own. Empty: not counted", null=True
            ),
        ),
        migrations.AddField(
            model_name="menuitem",
            name="takeaway_tax_percent",
            field=models.DecimalField(
                blank=True,
                decimal_places=3,
                help_text="For pick-up and delivery; empty: the same",
                max_digits=6,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="menuitem",
            name="translations",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="By language: {'da': {'name': ..., 'description': ...}}",
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="diets",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(
                    choices=[
                        ("vegetarian", "vegetarian"),
                        ("vegan", "vegan"),
                        ("gluten_free", "gluten-free"),
                        ("lactose_free", "lactose-free"),
                        ("halal", "halal"),
                        ("kosher", "kosher"),
                    ],
                    max_length=12,
                ),
                blank=True,
                db_default=[],
                default=list,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="prep_minutes",
            field=models.PositiveSmallIntegerField(
                blank=True, help_text="If it takes longer than the venue's preparation time", null=True
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="station",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Where it is made: grill, bar", max_length=40
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="takeaway_tax_percent",
            field=models.DecimalField(
                blank=True,
                decimal_places=3,
                help_text="For pick-up and delivery; empty: the same",
                max_digits=6,
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="menuitemchange",
            name="translations",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="By language: {'da': {'name': ..., 'description': ...}}",
            ),
        ),
        migrations.AddField(
            model_name="order",
            name="channel",
            field=models.CharField(blank=True, help_text="Where it was placed: a label", max_length=40, null=True),
        ),
        migrations.AddField(
            model_name="order",
            name="charges",
            field=models.JSONField(
                blank=True,
                db_default=[],
                default=list,
                help_text="[{type, name, amount}], priced by the rules of the venue",
            ),
        ),
        migrations.AddField(
            model_name="order",
            name="contact_email",
            field=models.CharField(blank=True, db_default="", default="", max_length=254),
        ),
        migrations.AddField(
            model_name="order",
            name="contact_name",
            field=models.CharField(blank=True, db_default="", default="", max_length=200),
        ),
        migrations.AddField(
            model_name="order",
            name="contact_phone",
            field=models.CharField(blank=True, db_default="", default="", max_length=16),
        ),
        migrations.AddField(
            model_name="order",
            name="is_dine_in",
            field=models.BooleanField(db_default=False, default=False, help_text="Served at the venue"),
        ),
        migrations.AddField(
            model_name="order",
            name="promised_at",
            field=models.DateTimeField(blank=True, help_text="When the venue expects to hand it over", null=True),
        ),
        migrations.AddField(
            model_name="order",
            name="requested_at",
            field=models.DateTimeField(blank=True, help_text="When the guest wants it", null=True),
        ),
        migrations.AddField(
            model_name="order",
            name="portions",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="Portions of counted dishes to give back, by their keys",
            ),
        ),
        migrations.AddField(
            model_name="order",
            name="slot",
            field=models.DateTimeField(blank=True, help_text="The slot of the capacity that it takes", null=True),
        ),
        migrations.AddField(
            model_name="order",
            name="table",
            field=models.CharField(
                blank=True, db_default="", default="", help_text="Where it is served", max_length=40
            ),
        ),
        migrations.AddField(
            model_name="order",
            name="tip",
            field=models.DecimalField(blank=True, decimal_places=3, max_digits=18, null=True),
        ),
        migrations.AddField(
            model_name="orderitem",
            name="modifiers",
            field=models.JSONField(
                blank=True, db_default=[], default=list, help_text="[{id, name, price, modifiers}], in the unit price"
            ),
        ),
        migrations.AddField(
            model_name="orderitem",
            name="station",
            field=models.CharField(blank=True, db_default="", default="", max_length=40),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="menuitem",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (NEW."allergens", NEW."category_id", NEW."description", NEW."diets", NEW."id", NEW."is_available", NEW."menu_id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."photo_id", NEW."position", NEW."prep_minutes", NEW."price", NEW."ref", NEW."sold_out_on", NEW."station", NEW."takeaway_tax_percent", NEW."tax_percent", NEW."translations"); RETURN NULL;',
                    hash="d8062514a4cfe6183e0c954edc77ddfb68214674",
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
                    condition='WHEN (OLD."allergens" IS DISTINCT FROM (NEW."allergens") OR OLD."category_id" IS DISTINCT FROM (NEW."category_id") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."diets" IS DISTINCT FROM (NEW."diets") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."is_available" IS DISTINCT FROM (NEW."is_available") OR OLD."menu_id" IS DISTINCT FROM (NEW."menu_id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."photo_id" IS DISTINCT FROM (NEW."photo_id") OR OLD."position" IS DISTINCT FROM (NEW."position") OR OLD."prep_minutes" IS DISTINCT FROM (NEW."prep_minutes") OR OLD."price" IS DISTINCT FROM (NEW."price") OR OLD."ref" IS DISTINCT FROM (NEW."ref") OR OLD."sold_out_on" IS DISTINCT FROM (NEW."sold_out_on") OR OLD."station" IS DISTINCT FROM (NEW."station") OR OLD."takeaway_tax_percent" IS DISTINCT FROM (NEW."takeaway_tax_percent") OR OLD."tax_percent" IS DISTINCT FROM (NEW."tax_percent") OR OLD."translations" IS DISTINCT FROM (NEW."translations"))',
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (OLD."allergens", OLD."category_id", OLD."description", OLD."diets", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."photo_id", OLD."position", OLD."prep_minutes", OLD."price", OLD."ref", OLD."sold_out_on", OLD."station", OLD."takeaway_tax_percent", OLD."tax_percent", OLD."translations"); RETURN NULL;',
                    hash="da10036601d7cd707cb66376486d358ab5ddde04",
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
                    func='INSERT INTO "orders_menuitemchange" ("allergens", "category_id", "description", "diets", "id", "is_available", "menu_id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "photo_id", "position", "prep_minutes", "price", "ref", "sold_out_on", "station", "takeaway_tax_percent", "tax_percent", "translations") VALUES (OLD."allergens", OLD."category_id", OLD."description", OLD."diets", OLD."id", OLD."is_available", OLD."menu_id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."photo_id", OLD."position", OLD."prep_minutes", OLD."price", OLD."ref", OLD."sold_out_on", OLD."station", OLD."takeaway_tax_percent", OLD."tax_percent", OLD."translations"); RETURN NULL;',
                    hash="8dfdbd0ac69d3a50f21201bd8509236d91a17abf",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_4eb07",
                    table="orders_menuitem",
                    when="AFTER",
                ),
            ),
        ),
        AddConstraintNotValid(
            model_name="menuitem",
            constraint=models.CheckConstraint(
                condition=models.Q(("takeaway_tax_percent__gte", 0), ("takeaway_tax_percent__lte", 100)),
                name="menu_item_takeaway_tax_from_0_to_100_percent",
            ),
        ),
        AddConstraintNotValid(
            model_name="menuitem",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("diets__contained_by", ["vegetarian", "vegan", "gluten_free", "lactose_free", "halal", "kosher"])
                ),
                name="menu_item_diets_known",
            ),
        ),
        AddConstraintNotValid(
            model_name="order",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("is_dine_in", False), ("table", "")),
                    models.Q(("delivery_address__isnull", True), ("is_dine_in", True)),
                    _connector="OR",
                ),
                name="order_is_served_at_the_venue_or_delivered",
            ),
        ),
        AddConstraintNotValid(
            model_name="order",
            constraint=models.CheckConstraint(
                condition=models.Q(("tip__isnull", True), ("tip__gte", 0), _connector="OR"),
                name="order_tip_not_negative",
            ),
        ),
        migrations.AddField(
            model_name="chargerule",
            name="venue",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="charge_rules", to="accounts.venue"
            ),
        ),
        migrations.AddField(
            model_name="chargerulechange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.chargerule",
            ),
        ),
        migrations.AddField(
            model_name="chargerulechange",
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
            model_name="itemmodifiergroup",
            name="item",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="item_modifier_groups",
                to="orders.menuitem",
            ),
        ),
        migrations.AddField(
            model_name="itemmodifiergroup",
            name="menu",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="orders.menu"),
        ),
        migrations.AddField(
            model_name="itemmodifiergroupchange",
            name="item",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.menuitem",
            ),
        ),
        migrations.AddField(
            model_name="itemmodifiergroupchange",
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
            model_name="itemmodifiergroupchange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.itemmodifiergroup",
            ),
        ),
        migrations.AddField(
            model_name="modifier",
            name="item",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="part_of",
                to="orders.menuitem",
            ),
        ),
        migrations.AddField(
            model_name="modifier",
            name="menu",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="modifiers", to="orders.menu"
            ),
        ),
        migrations.AddField(
            model_name="modifierchange",
            name="item",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.menuitem",
            ),
        ),
        migrations.AddField(
            model_name="modifierchange",
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
            model_name="modifierchange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.modifier",
            ),
        ),
        migrations.AddField(
            model_name="modifiergroup",
            name="items",
            field=models.ManyToManyField(
                related_name="modifier_groups", through="orders.ItemModifierGroup", to="orders.menuitem"
            ),
        ),
        migrations.AddField(
            model_name="modifiergroup",
            name="menu",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="modifier_groups",
                to="orders.menu",
            ),
        ),
        migrations.AddField(
            model_name="modifierchange",
            name="group",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.modifiergroup",
            ),
        ),
        migrations.AddField(
            model_name="modifierchange",
            name="nested_group",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.modifiergroup",
            ),
        ),
        migrations.AddField(
            model_name="modifier",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="modifiers", to="orders.modifiergroup"
            ),
        ),
        migrations.AddField(
            model_name="modifier",
            name="nested_group",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="asked_by",
                to="orders.modifiergroup",
            ),
        ),
        migrations.AddField(
            model_name="itemmodifiergroupchange",
            name="group",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.modifiergroup",
            ),
        ),
        migrations.AddField(
            model_name="itemmodifiergroup",
            name="group",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="item_modifier_groups",
                to="orders.modifiergroup",
            ),
        ),
        migrations.AddField(
            model_name="modifiergroupchange",
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
            model_name="modifiergroupchange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.modifiergroup",
            ),
        ),
        migrations.AddConstraint(
            model_name="orderingsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("prep_minutes__lte", 1440)), name="ordering_settings_prep_time_within_a_day"
            ),
        ),
        migrations.AddConstraint(
            model_name="orderingsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("slot_minutes__in", [5, 10, 15, 20, 30, 60])),
                name="ordering_settings_slot_divides_an_hour",
                violation_error_message="A slot is 5, 10, 15, 20, 30 or 60 minutes long.",
            ),
        ),
        migrations.AddConstraint(
            model_name="orderingsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("orders_per_slot__isnull", True), ("orders_per_slot__gte", 1), _connector="OR"),
                name="ordering_settings_capacity_positive",
            ),
        ),
        migrations.AddConstraint(
            model_name="orderingsettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("warn_minutes__gte", 1), ("warn_minutes__lt", models.F("late_minutes"))),
                name="ordering_settings_warns_before_late",
                violation_error_message="An order is marked before it is late.",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="orderingsettings",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "orders_per_slot", "page_fulfilments", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "slot_minutes", "takes_usdc", "venue_id", "warn_minutes") VALUES (NEW."is_page_open", NEW."late_minutes", NEW."orders_per_slot", NEW."page_fulfilments", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."venue_id", NEW."prep_minutes", NEW."slot_minutes", NEW."takes_usdc", NEW."venue_id", NEW."warn_minutes"); RETURN NULL;',
                    hash="b312e46fd5a4be935ba44dc8fb5818c3dcd3eedc",
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
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "orders_per_slot", "page_fulfilments", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "slot_minutes", "takes_usdc", "venue_id", "warn_minutes") VALUES (OLD."is_page_open", OLD."late_minutes", OLD."orders_per_slot", OLD."page_fulfilments", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."venue_id", OLD."prep_minutes", OLD."slot_minutes", OLD."takes_usdc", OLD."venue_id", OLD."warn_minutes"); RETURN NULL;',
                    hash="ce6ed28ced08f08f9d103910cb35e797c4c4c329",
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
                    func='INSERT INTO "orders_orderingsettingschange" ("is_page_open", "late_minutes", "orders_per_slot", "page_fulfilments", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "prep_minutes", "slot_minutes", "takes_usdc", "venue_id", "warn_minutes") VALUES (OLD."is_page_open", OLD."late_minutes", OLD."orders_per_slot", OLD."page_fulfilments", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."venue_id", OLD."prep_minutes", OLD."slot_minutes", OLD."takes_usdc", OLD."venue_id", OLD."warn_minutes"); RETURN NULL;',
                    hash="deaac52a762e8eecece5ca84f0fa70b8f48582b5",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_23453",
                    table="orders_orderingsettings",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="orderingsettingschange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="orders.orderingsettings",
            ),
        ),
        migrations.AddField(
            model_name="orderingsettingschange",
            name="venue",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                serialize=False,
                to="accounts.venue",
            ),
        ),
        migrations.AddField(
            model_name="orderslot",
            name="venue",
            field=models.ForeignKey(
                db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="accounts.venue"
            ),
        ),
        migrations.AddConstraint(
            model_name="chargerule",
            constraint=models.UniqueConstraint(fields=("venue", "name"), name="charge_rule_name_unique_per_venue"),
        ),
        migrations.AddConstraint(
            model_name="chargerule",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("amount__isnull", True),
                        ("percent__gt", 0),
                        ("percent__isnull", False),
                        ("percent__lte", 100),
                    ),
                    models.Q(("amount__gt", 0), ("amount__isnull", False), ("percent__isnull", True)),
                    _connector="OR",
                ),
                name="charge_rule_percent_or_amount",
                violation_error_message="Enter either a percentage up to 100 or an amount.",
            ),
        ),
        migrations.AddConstraint(
            model_name="chargerule",
            constraint=models.CheckConstraint(
                condition=models.Q(("tax_percent__gte", 0), ("tax_percent__lte", 100)),
                name="charge_rule_tax_from_0_to_100_percent",
            ),
        ),
        migrations.AddConstraint(
            model_name="chargerule",
            constraint=models.CheckConstraint(
                condition=models.Q(("fulfilments__contained_by", ["pickup", "delivery", "dine_in"])),
                name="charge_rule_fulfilments_known",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="chargerule",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "type", "venue_id") VALUES (NEW."amount", NEW."free_from", NEW."fulfilments", NEW."id", NEW."name", NEW."percent", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."position", NEW."tax_percent", NEW."type", NEW."venue_id"); RETURN NULL;',
                    hash="08dd8329af7a0b1845ca4f462fe949accab544fa",
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
                    func='INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "type", "venue_id") VALUES (OLD."amount", OLD."free_from", OLD."fulfilments", OLD."id", OLD."name", OLD."percent", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."position", OLD."tax_percent", OLD."type", OLD."venue_id"); RETURN NULL;',
                    hash="302ea59dd480e388d392b3e738a63b58d5077bab",
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
                    func='INSERT INTO "orders_chargerulechange" ("amount", "free_from", "fulfilments", "id", "name", "percent", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "tax_percent", "type", "venue_id") VALUES (OLD."amount", OLD."free_from", OLD."fulfilments", OLD."id", OLD."name", OLD."percent", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."position", OLD."tax_percent", OLD."type", OLD."venue_id"); RETURN NULL;',
                    hash="80469efbe5c6b3bf87c8eeffb2388afe57f68a9b",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_eab81",
                    table="orders_chargerule",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="modifiergroup",
            constraint=models.UniqueConstraint(fields=("menu", "ref"), name="modifier_group_id_unique_per_menu"),
        ),
        migrations.AddConstraint(
            model_name="modifiergroup",
            constraint=models.UniqueConstraint(fields=("id", "menu"), name="modifier_group_of_a_menu"),
        ),
        migrations.AddConstraint(
            model_name="modifiergroup",
            constraint=models.CheckConstraint(
                condition=models.Q(("ref", ""), _negated=True), name="modifier_group_id_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="modifiergroup",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("max_choices__gte", 1), ("max_choices__lte", 20), ("min_choices__lte", models.F("max_choices"))
                ),
                name="modifier_group_choices_from_min_to_max",
                violation_error_message="Choose at least the minimum and at most 20.",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="modifiergroup",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_modifiergroupchange" ("id", "max_choices", "menu_id", "min_choices", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref", "translations") VALUES (NEW."id", NEW."max_choices", NEW."menu_id", NEW."min_choices", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."ref", NEW."translations"); RETURN NULL;',
                    hash="afec0d860ae7bb1ea0c23686511db18bcc3ec5c1",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_01e67",
                    table="orders_modifiergroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="modifiergroup",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "orders_modifiergroupchange" ("id", "max_choices", "menu_id", "min_choices", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref", "translations") VALUES (OLD."id", OLD."max_choices", OLD."menu_id", OLD."min_choices", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."ref", OLD."translations"); RETURN NULL;',
                    hash="eadd8b87085cc5ff9cfd24e366bc094c916b3efd",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_cc0c1",
                    table="orders_modifiergroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="modifiergroup",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_modifiergroupchange" ("id", "max_choices", "menu_id", "min_choices", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "ref", "translations") VALUES (OLD."id", OLD."max_choices", OLD."menu_id", OLD."min_choices", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."ref", OLD."translations"); RETURN NULL;',
                    hash="b418dc5bd1d411c4f206abe4ebffe905efbd6b02",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_14a20",
                    table="orders_modifiergroup",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="modifier",
            constraint=models.UniqueConstraint(fields=("menu", "ref"), name="modifier_id_unique_per_menu"),
        ),
        migrations.AddConstraint(
            model_name="modifier",
            constraint=models.CheckConstraint(
                condition=models.Q(("ref", ""), _negated=True), name="modifier_id_not_empty"
            ),
        ),
        migrations.AddConstraint(
            model_name="modifier",
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
                name="modifier_allergens_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="modifier",
            constraint=models.CheckConstraint(
                condition=models.Q(("nested_group", models.F("group")), _negated=True),
                name="modifier_group_not_nested_in_itself",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="modifier",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_modifierchange" ("allergens", "group_id", "id", "is_available", "is_default", "item_id", "menu_id", "name", "nested_group_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price_delta", "ref", "translations") VALUES (NEW."allergens", NEW."group_id", NEW."id", NEW."is_available", NEW."is_default", NEW."item_id", NEW."menu_id", NEW."name", NEW."nested_group_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."position", NEW."price_delta", NEW."ref", NEW."translations"); RETURN NULL;',
                    hash="b3ec30cd99d24c62d9f01fae510ffbba367b93ed",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_446fe",
                    table="orders_modifier",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="modifier",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "orders_modifierchange" ("allergens", "group_id", "id", "is_available", "is_default", "item_id", "menu_id", "name", "nested_group_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price_delta", "ref", "translations") VALUES (OLD."allergens", OLD."group_id", OLD."id", OLD."is_available", OLD."is_default", OLD."item_id", OLD."menu_id", OLD."name", OLD."nested_group_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."position", OLD."price_delta", OLD."ref", OLD."translations"); RETURN NULL;',
                    hash="e67d06f09f9bdd6eb640026c77c05b6b4e8c452a",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_bb6fb",
                    table="orders_modifier",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="modifier",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_modifierchange" ("allergens", "group_id", "id", "is_available", "is_default", "item_id", "menu_id", "name", "nested_group_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position", "price_delta", "ref", "translations") VALUES (OLD."allergens", OLD."group_id", OLD."id", OLD."is_available", OLD."is_default", OLD."item_id", OLD."menu_id", OLD."name", OLD."nested_group_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."position", OLD."price_delta", OLD."ref", OLD."translations"); RETURN NULL;',
                    hash="c83cf5009ca5febf91dbad8609b54429bcc81ea0",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_42aee",
                    table="orders_modifier",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="itemmodifiergroup",
            constraint=models.UniqueConstraint(fields=("item", "group"), name="modifier_group_once_per_menu_item"),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="itemmodifiergroup",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_itemmodifiergroupchange" ("group_id", "id", "item_id", "menu_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position") VALUES (NEW."group_id", NEW."id", NEW."item_id", NEW."menu_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."position"); RETURN NULL;',
                    hash="0a0d9eac373e319ac92945884f9fb08b333e2d41",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_ad637",
                    table="orders_itemmodifiergroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="itemmodifiergroup",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "orders_itemmodifiergroupchange" ("group_id", "id", "item_id", "menu_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position") VALUES (OLD."group_id", OLD."id", OLD."item_id", OLD."menu_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."position"); RETURN NULL;',
                    hash="01fb7d63d5d39dfbcf078e2f3482397416943d23",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_70c53",
                    table="orders_itemmodifiergroup",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="itemmodifiergroup",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "orders_itemmodifiergroupchange" ("group_id", "id", "item_id", "menu_id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "position") VALUES (OLD."group_id", OLD."id", OLD."item_id", OLD."menu_id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."position"); RETURN NULL;',
                    hash="35d731dc3cc713ccf2820230d3ddb9b1571d27da",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_9ed64",
                    table="orders_itemmodifiergroup",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddConstraint(
            model_name="orderslot",
            constraint=models.UniqueConstraint(fields=("venue", "starts_at"), name="order_slot_unique_per_venue"),
        ),
    ]
