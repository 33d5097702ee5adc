"""Triggers write down what rows of people's settings were before each change."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import pghistory.utils
import pgtrigger.compiler
import pgtrigger.migrations
from django.conf import settings
from django.db import migrations, models

import accounts.models.keys
import config.api.ids
import config.api.zones


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0015_letters_are_sent_by_workers"),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiKeyChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                (
                    "family",
                    models.UUIDField(
                        default=config.api.ids.new_id,
                        editable=False,
                        help_text="Shared by a key and those that replace it",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "start",
                    models.CharField(editable=False, help_text="The first letters, to tell keys apart", max_length=12),
                ),
                ("end", models.CharField(editable=False, help_text="The last letters", max_length=4)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("orders:read", "Orders Read"),
                                ("orders:write", "Orders Write"),
                                ("reservations:read", "Reservations Read"),
                                ("reservations:write", "Reservations Write"),
                            ],
                            max_length=20,
                        ),
                        default=accounts.models.keys.every_scope,
                        help_text="What the key may do: read or write orders and reservations",
                        size=None,
                    ),
                ),
                ("allowance", models.PositiveIntegerField(default=1000, help_text="Requests an hour")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="MembershipChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("manager", "Manager"), ("host", "Host"), ("kitchen", "Kitchen")],
                        max_length=20,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="VenueChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                ("name", models.CharField(max_length=200)),
                (
                    "timezone",
                    models.CharField(
                        default="UTC",
                        help_text="IANA name: the wall clock of this venue",
                        max_length=64,
                        validators=[config.api.zones.is_a_zone],
                    ),
                ),
                ("currency", models.CharField(default="EUR", help_text="ISO 4217", max_length=3)),
                (
                    "is_sandbox",
                    models.BooleanField(
                        default=False, help_text="For trying out: its keys begin with rk_test_", verbose_name="sandbox"
                    ),
                ),
                (
                    "max_days_ahead",
                    models.PositiveSmallIntegerField(default=365, help_text="How far ahead a table can be reserved"),
                ),
                (
                    "auto_confirm_max_party",
                    models.PositiveSmallIntegerField(default=8, help_text="Larger parties wait for the staff's word"),
                ),
                (
                    "when_full",
                    models.CharField(
                        choices=[("refuse", "Refuse, and name other times"), ("waitlist", "Put on the waiting list")],
                        default="refuse",
                        help_text="What a guest is told when no table is free",
                        max_length=10,
                    ),
                ),
                (
                    "mails_guests",
                    models.BooleanField(
                        default=True,
                        help_text="Confirmations, reminders and offers go to guests who left a mail address",
                    ),
                ),
                (
                    "prices_include_tax",
                    models.BooleanField(default=True, help_text="Whether the menu's prices are what guests pay"),
                ),
                (
                    "payment_methods",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            max_length=40,
                            validators=[
                                django.core.validators.RegexValidator(
                                    "^[a-z][a-z0-9_-]{0,39}$",
                                    "A label has small letters, digits, _ and -, and begins with a letter: card.",
                                )
                            ],
                        ),
                        blank=True,
                        default=list,
                        help_text="Labels that orders may carry, separated by commas; empty: any",
                        size=None,
                    ),
                ),
                (
                    "address",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="Where guests come to", max_length=300
                    ),
                ),
                (
                    "phone",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="What guests may call", max_length=40
                    ),
                ),
                (
                    "is_bookable_online",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Guests may reserve on the page of this venue",
                        verbose_name="bookable online",
                    ),
                ),
                (
                    "proves_guests",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="What is booked on that page is kept for 15 minutes, until the guest follows a mailed link",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpointChange",
            fields=[
                ("pgh_id", models.AutoField(primary_key=True, serialize=False)),
                ("pgh_created_at", models.DateTimeField(auto_now_add=True)),
                ("pgh_label", models.TextField(help_text="The event label.")),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=config.api.ids.new_id, editable=False, serialize=False)),
                ("url", models.URLField(max_length=500)),
                ("description", models.CharField(blank=True, default="", max_length=200)),
                (
                    "types",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("order.created", "Order Created"),
                                ("order.updated", "Order Updated"),
                                ("order.completed", "Order Completed"),
                                ("order.cancelled", "Order Cancelled"),
                                ("order.reopened", "Order Reopened"),
                                ("reservation.created", "Reservation Created"),
                                ("reservation.updated", "Reservation Updated"),
                                ("reservation.confirmed", "Reservation Confirmed"),
                                ("reservation.cancelled", "Reservation Cancelled"),
                                ("export.finished", "Export Finished"),
                                ("webhook.ping", "Webhook Ping"),
                            ],
                            max_length=32,
                        ),
                        blank=True,
                        default=list,
                        help_text="Empty: all events",
                        size=None,
                    ),
                ),
                ("old_secret_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("disabled_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "disabled_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("staff", "switched off by people"),
                            ("gone", "it answered 410"),
                            ("failing", "it failed for five days"),
                        ],
                        editable=False,
                        max_length=10,
                        null=True,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_apikeychange" ("allowance", "created_at", "end", "expires_at", "family", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (NEW."allowance", NEW."created_at", NEW."end", NEW."expires_at", NEW."family", NEW."id", NEW."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."revoked_at", NEW."scopes", NEW."start", NEW."venue_id"); RETURN NULL;',
                    hash="e85a1dac1626fabe85d1105758f1e57a6308559e",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_d3b8e",
                    table="accounts_apikey",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."allowance" IS DISTINCT FROM (NEW."allowance") OR OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."end" IS DISTINCT FROM (NEW."end") OR OLD."expires_at" IS DISTINCT FROM (NEW."expires_at") OR OLD."family" IS DISTINCT FROM (NEW."family") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."revoked_at" IS DISTINCT FROM (NEW."revoked_at") OR OLD."scopes" IS DISTINCT FROM (NEW."scopes") OR OLD."start" IS DISTINCT FROM (NEW."start") OR OLD."venue_id" IS DISTINCT FROM (NEW."venue_id"))',
                    func='INSERT INTO "accounts_apikeychange" ("allowance", "created_at", "end", "expires_at", "family", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (OLD."allowance", OLD."created_at", OLD."end", OLD."expires_at", OLD."family", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."revoked_at", OLD."scopes", OLD."start", OLD."venue_id"); RETURN NULL;',
                    hash="f2f997103fc090126a3dcc8adbf120e4c9028a61",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_46070",
                    table="accounts_apikey",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="apikey",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_apikeychange" ("allowance", "created_at", "end", "expires_at", "family", "id", "name", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "revoked_at", "scopes", "start", "venue_id") VALUES (OLD."allowance", OLD."created_at", OLD."end", OLD."expires_at", OLD."family", OLD."id", OLD."name", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."revoked_at", OLD."scopes", OLD."start", OLD."venue_id"); RETURN NULL;',
                    hash="a476f869fa3b3016480200af50181031bf4a961d",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_d5bea",
                    table="accounts_apikey",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (NEW."account_id", NEW."created_at", NEW."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."role", NEW."user_id"); RETURN NULL;',
                    hash="999d9dd9ce2bdb87de11e60c3e4af0e0642432d0",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_f0184",
                    table="accounts_membership",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (OLD."account_id", OLD."created_at", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."role", OLD."user_id"); RETURN NULL;',
                    hash="8c21d9436989c0fae2e7cc1e0b2cc26d5e2a2ca7",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_2ef26",
                    table="accounts_membership",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="membership",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (OLD."account_id", OLD."created_at", OLD."id", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."role", OLD."user_id"); RETURN NULL;',
                    hash="9d2ef59e1b1d9fdd4e065bb421ea9c98da0c339e",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_d2fe0",
                    table="accounts_membership",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="venue",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "id", "is_bookable_online", "is_sandbox", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (NEW."account_id", NEW."address", NEW."auto_confirm_max_party", NEW."created_at", NEW."currency", NEW."id", NEW."is_bookable_online", NEW."is_sandbox", NEW."mails_guests", NEW."max_days_ahead", NEW."name", NEW."payment_methods", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."phone", NEW."prices_include_tax", NEW."proves_guests", NEW."timezone", NEW."when_full"); RETURN NULL;',
                    hash="cdc9f61f5966ce5f6af2addcf3dd4cdd8031fa2c",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_c0b37",
                    table="accounts_venue",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="venue",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                    func='INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "id", "is_bookable_online", "is_sandbox", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (OLD."account_id", OLD."address", OLD."auto_confirm_max_party", OLD."created_at", OLD."currency", OLD."id", OLD."is_bookable_online", OLD."is_sandbox", OLD."mails_guests", OLD."max_days_ahead", OLD."name", OLD."payment_methods", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."phone", OLD."prices_include_tax", OLD."proves_guests", OLD."timezone", OLD."when_full"); RETURN NULL;',
                    hash="3d26d461bde10adea3805509c19b309060c37544",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_74b9e",
                    table="accounts_venue",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="venue",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "id", "is_bookable_online", "is_sandbox", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (OLD."account_id", OLD."address", OLD."auto_confirm_max_party", OLD."created_at", OLD."currency", OLD."id", OLD."is_bookable_online", OLD."is_sandbox", OLD."mails_guests", OLD."max_days_ahead", OLD."name", OLD."payment_methods", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."phone", OLD."prices_include_tax", OLD."proves_guests", OLD."timezone", OLD."when_full"); RETURN NULL;',
                    hash="cd6df65c4237d95b96c0c57c181d76daa8b39045",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_d2b7c",
                    table="accounts_venue",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhookendpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="added_insert",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (NEW."created_at", NEW."description", NEW."disabled_at", NEW."disabled_reason", NEW."id", NEW."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."types", NEW."url", NEW."venue_id"); RETURN NULL;',
                    hash="5f4180fbf0f365678ed8087009654f8d4e1e7547",
                    operation="INSERT",
                    pgid="pgtrigger_added_insert_4128f",
                    table="accounts_webhookendpoint",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhookendpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="changed_update",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition='WHEN (OLD."created_at" IS DISTINCT FROM (NEW."created_at") OR OLD."description" IS DISTINCT FROM (NEW."description") OR OLD."disabled_at" IS DISTINCT FROM (NEW."disabled_at") OR OLD."disabled_reason" IS DISTINCT FROM (NEW."disabled_reason") OR OLD."id" IS DISTINCT FROM (NEW."id") OR OLD."old_secret_until" IS DISTINCT FROM (NEW."old_secret_until") OR OLD."types" IS DISTINCT FROM (NEW."types") OR OLD."url" IS DISTINCT FROM (NEW."url") OR OLD."venue_id" IS DISTINCT FROM (NEW."venue_id"))',
                    func='INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (OLD."created_at", OLD."description", OLD."disabled_at", OLD."disabled_reason", OLD."id", OLD."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."types", OLD."url", OLD."venue_id"); RETURN NULL;',
                    hash="61a2dd0b311a6522442495aa09f86b1561d54da7",
                    operation="UPDATE",
                    pgid="pgtrigger_changed_update_a6617",
                    table="accounts_webhookendpoint",
                    when="AFTER",
                ),
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="webhookendpoint",
            trigger=pgtrigger.compiler.Trigger(
                name="removed_delete",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    func='INSERT INTO "accounts_webhookendpointchange" ("created_at", "description", "disabled_at", "disabled_reason", "id", "old_secret_until", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "types", "url", "venue_id") VALUES (OLD."created_at", OLD."description", OLD."disabled_at", OLD."disabled_reason", OLD."id", OLD."old_secret_until", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."types", OLD."url", OLD."venue_id"); RETURN NULL;',
                    hash="50a8274f5079cc702f2cd595ad1893ed4eeb4c83",
                    operation="DELETE",
                    pgid="pgtrigger_removed_delete_523dc",
                    table="accounts_webhookendpoint",
                    when="AFTER",
                ),
            ),
        ),
        migrations.AddField(
            model_name="apikeychange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.apikey",
            ),
        ),
        migrations.AddField(
            model_name="apikeychange",
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
            model_name="membershipchange",
            name="account",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.account",
            ),
        ),
        migrations.AddField(
            model_name="membershipchange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.membership",
            ),
        ),
        migrations.AddField(
            model_name="membershipchange",
            name="user",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddField(
            model_name="venuechange",
            name="account",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.account",
            ),
        ),
        migrations.AddField(
            model_name="venuechange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.venue",
            ),
        ),
        migrations.AddField(
            model_name="webhookendpointchange",
            name="pgh_obj",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                related_query_name="+",
                to="accounts.webhookendpoint",
            ),
        ),
        migrations.AddField(
            model_name="webhookendpointchange",
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
