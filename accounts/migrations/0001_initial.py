from typing import Any

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import pghistory.utils
import pgtrigger.compiler
from django.conf import settings
from django.db import migrations, models

import accounts.models.api_keys
import framework.public_ids
import framework.timezones
from framework.db.deferred_sql import create_references

ROLES = ("Data editor", "Finance", "Support")


def create_groups(apps: Any, schema_editor: Any) -> None:
    """Create the groups of our own staff."""
    groups = apps.get_model("auth", "Group").objects
    for name in ROLES:
        groups.get_or_create(name=name)


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                        verbose_name="staff status",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                ("email", models.EmailField(max_length=254, unique=True, verbose_name="email address")),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(
                        models.Func(models.F("email"), function="lower"), name="one_user_per_email_in_any_case"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Account",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "closed_at",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="When the owner closed the account; its data is deleted later",
                        null=True,
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="memberships", to="accounts.account"
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("manager", "Manager"), ("host", "Host"), ("kitchen", "Kitchen")],
                        max_length=20,
                    ),
                ),
                (
                    "is_limited",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Limited to the selected venues; otherwise all venues of the account, including later ones",
                        verbose_name="limited",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("account", "user"), name="one_membership_per_user_and_account")
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="added_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "is_limited", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (NEW."account_id", NEW."created_at", NEW."id", NEW."is_limited", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."role", NEW."user_id"); RETURN NULL;',
                            hash="84fece4c55539ecca821a59d00461d4e0c0b5fb7",
                            operation="INSERT",
                            pgid="pgtrigger_added_insert_f0184",
                            table="accounts_membership",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="changed_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "is_limited", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (OLD."account_id", OLD."created_at", OLD."id", OLD."is_limited", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."role", OLD."user_id"); RETURN NULL;',
                            hash="f4b1140bf8147ac0b910e09560c50aff402e7115",
                            operation="UPDATE",
                            pgid="pgtrigger_changed_update_2ef26",
                            table="accounts_membership",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="removed_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_membershipchange" ("account_id", "created_at", "id", "is_limited", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "role", "user_id") VALUES (OLD."account_id", OLD."created_at", OLD."id", OLD."is_limited", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."role", OLD."user_id"); RETURN NULL;',
                            hash="bb522e2562c0f227550292200725938829d8f9fd",
                            operation="DELETE",
                            pgid="pgtrigger_removed_delete_d2fe0",
                            table="accounts_membership",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MembershipChange",
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
                        to="accounts.membership",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.BigIntegerField()),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="accounts.account",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("manager", "Manager"), ("host", "Host"), ("kitchen", "Kitchen")],
                        max_length=20,
                    ),
                ),
                (
                    "is_limited",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Limited to the selected venues; otherwise all venues of the account, including later ones",
                        verbose_name="limited",
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="accounts.account"
                    ),
                ),
                ("email", models.EmailField(max_length=254)),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("manager", "Manager"), ("host", "Host"), ("kitchen", "Kitchen")],
                        max_length=20,
                    ),
                ),
                (
                    "is_limited",
                    models.BooleanField(
                        db_default=False, default=False, help_text="Limited to these venues", verbose_name="limited"
                    ),
                ),
                (
                    "invited_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        models.F("account"),
                        models.Func(models.F("email"), function="lower"),
                        condition=models.Q(("accepted_at__isnull", True), ("withdrawn_at__isnull", True)),
                        name="one_open_invitation_per_address_and_account",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("accepted_at__isnull", True), ("withdrawn_at__isnull", True), _connector="OR"
                        ),
                        name="invitation_is_accepted_or_withdrawn",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Venue",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="venues", to="accounts.account"
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "timezone",
                    models.CharField(
                        default="UTC",
                        help_text="IANA time zone of the venue",
                        max_length=64,
                        validators=[framework.timezones.is_a_zone],
                    ),
                ),
                ("currency", models.CharField(default="EUR", help_text="ISO 4217", max_length=3)),
                (
                    "is_sandbox",
                    models.BooleanField(
                        default=False,
                        help_text="For testing: its API keys begin with rk_test_",
                        verbose_name="sandbox",
                    ),
                ),
                (
                    "max_days_ahead",
                    models.PositiveSmallIntegerField(default=365, help_text="How many days ahead guests can book"),
                ),
                (
                    "auto_confirm_max_party",
                    models.PositiveSmallIntegerField(default=8, help_text="Larger parties need approval by staff"),
                ),
                (
                    "when_full",
                    models.CharField(
                        choices=[
                            ("refuse", "Decline, and offer other times"),
                            ("waitlist", "Add to the waiting list"),
                        ],
                        default="refuse",
                        help_text="What happens when no table is free",
                        max_length=10,
                    ),
                ),
                (
                    "mails_guests",
                    models.BooleanField(
                        default=True,
                        help_text="Send confirmations, reminders and offers to guests who gave an email address",
                    ),
                ),
                ("prices_include_tax", models.BooleanField(default=True, help_text="Whether menu prices include tax")),
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
                        help_text="Allowed payment labels of orders, separated by commas; empty: any",
                        size=None,
                    ),
                ),
                (
                    "address",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="Shown to guests", max_length=300
                    ),
                ),
                (
                    "phone",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="Shown to guests", max_length=40
                    ),
                ),
                (
                    "is_bookable_online",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Guests can book on the booking page",
                        verbose_name="bookable online",
                    ),
                ),
                (
                    "proves_guests",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Bookings on that page are held for 15 minutes, until the guest opens the link in an email",
                    ),
                ),
                (
                    "forgets_guests_after_days",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Days after their last reservation until guest data is deleted; empty: never",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("currency__regex", "^[A-Z]{3}$")),
                        name="venue_currency_is_three_capitals",
                        violation_error_message="The currency is a code of ISO 4217: EUR.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("auto_confirm_max_party__lte", 500)),
                        name="venue_confirms_parties_of_0_to_500",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
                        name="added_insert",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "forgets_guests_after_days", "id", "is_bookable_online", "is_sandbox", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (NEW."account_id", NEW."address", NEW."auto_confirm_max_party", NEW."created_at", NEW."currency", NEW."forgets_guests_after_days", NEW."id", NEW."is_bookable_online", NEW."is_sandbox", NEW."mails_guests", NEW."max_days_ahead", NEW."name", NEW."payment_methods", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'added\', NEW."id", NEW."phone", NEW."prices_include_tax", NEW."proves_guests", NEW."timezone", NEW."when_full"); RETURN NULL;',
                            hash="4ffced91d63e939bd8dbe60f47b67a882796c1a1",
                            operation="INSERT",
                            pgid="pgtrigger_added_insert_c0b37",
                            table="accounts_venue",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="changed_update",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            condition="WHEN (OLD.* IS DISTINCT FROM NEW.*)",
                            func='INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "forgets_guests_after_days", "id", "is_bookable_online", "is_sandbox", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (OLD."account_id", OLD."address", OLD."auto_confirm_max_party", OLD."created_at", OLD."currency", OLD."forgets_guests_after_days", OLD."id", OLD."is_bookable_online", OLD."is_sandbox", OLD."mails_guests", OLD."max_days_ahead", OLD."name", OLD."payment_methods", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'changed\', OLD."id", OLD."phone", OLD."prices_include_tax", OLD."proves_guests", OLD."timezone", OLD."when_full"); RETURN NULL;',
                            hash="013823e0a1882faa26c0735f98090ca6d271008b",
                            operation="UPDATE",
                            pgid="pgtrigger_changed_update_74b9e",
                            table="accounts_venue",
                            when="AFTER",
                        ),
                    ),
                    pgtrigger.compiler.Trigger(
                        name="removed_delete",
                        sql=pgtrigger.compiler.UpsertTriggerSql(
                            func='INSERT INTO "accounts_venuechange" ("account_id", "address", "auto_confirm_max_party", "created_at", "currency", "forgets_guests_after_days", "id", "is_bookable_online", "is_sandbox", "mails_guests", "max_days_ahead", "name", "payment_methods", "pgh_context", "pgh_created_at", "pgh_label", "pgh_obj_id", "phone", "prices_include_tax", "proves_guests", "timezone", "when_full") VALUES (OLD."account_id", OLD."address", OLD."auto_confirm_max_party", OLD."created_at", OLD."currency", OLD."forgets_guests_after_days", OLD."id", OLD."is_bookable_online", OLD."is_sandbox", OLD."mails_guests", OLD."max_days_ahead", OLD."name", OLD."payment_methods", COALESCE(NULLIF(CURRENT_SETTING(\'pghistory.context_metadata\', TRUE), \'\'), NULL)::JSONB, clock_timestamp(), \'removed\', OLD."id", OLD."phone", OLD."prices_include_tax", OLD."proves_guests", OLD."timezone", OLD."when_full"); RETURN NULL;',
                            hash="b748d322d16eae79d19a44344884d28bbff8aa87",
                            operation="DELETE",
                            pgid="pgtrigger_removed_delete_d2b7c",
                            table="accounts_venue",
                            when="AFTER",
                        ),
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VenueChange",
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
                        to="accounts.venue",
                    ),
                ),
                ("pgh_context", pghistory.utils.JSONField(null=True)),
                ("id", models.UUIDField(default=framework.public_ids.new_id, editable=False, serialize=False)),
                (
                    "account",
                    models.ForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="accounts.account",
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                (
                    "timezone",
                    models.CharField(
                        default="UTC",
                        help_text="IANA time zone of the venue",
                        max_length=64,
                        validators=[framework.timezones.is_a_zone],
                    ),
                ),
                ("currency", models.CharField(default="EUR", help_text="ISO 4217", max_length=3)),
                (
                    "is_sandbox",
                    models.BooleanField(
                        default=False,
                        help_text="For testing: its API keys begin with rk_test_",
                        verbose_name="sandbox",
                    ),
                ),
                (
                    "max_days_ahead",
                    models.PositiveSmallIntegerField(default=365, help_text="How many days ahead guests can book"),
                ),
                (
                    "auto_confirm_max_party",
                    models.PositiveSmallIntegerField(default=8, help_text="Larger parties need approval by staff"),
                ),
                (
                    "when_full",
                    models.CharField(
                        choices=[
                            ("refuse", "Decline, and offer other times"),
                            ("waitlist", "Add to the waiting list"),
                        ],
                        default="refuse",
                        help_text="What happens when no table is free",
                        max_length=10,
                    ),
                ),
                (
                    "mails_guests",
                    models.BooleanField(
                        default=True,
                        help_text="Send confirmations, reminders and offers to guests who gave an email address",
                    ),
                ),
                ("prices_include_tax", models.BooleanField(default=True, help_text="Whether menu prices include tax")),
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
                        help_text="Allowed payment labels of orders, separated by commas; empty: any",
                        size=None,
                    ),
                ),
                (
                    "address",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="Shown to guests", max_length=300
                    ),
                ),
                (
                    "phone",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="Shown to guests", max_length=40
                    ),
                ),
                (
                    "is_bookable_online",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Guests can book on the booking page",
                        verbose_name="bookable online",
                    ),
                ),
                (
                    "proves_guests",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Bookings on that page are held for 15 minutes, until the guest opens the link in an email",
                    ),
                ),
                (
                    "forgets_guests_after_days",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        help_text="Days after their last reservation until guest data is deleted; empty: never",
                        null=True,
                        validators=[django.core.validators.MinValueValidator(1)],
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="api_keys", to="accounts.venue"
                    ),
                ),
                (
                    "family",
                    models.UUIDField(
                        default=framework.public_ids.new_id,
                        editable=False,
                        help_text="Shared by a key and its replacements",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                (
                    "start",
                    models.CharField(
                        editable=False, help_text="First characters, to recognise the key", max_length=12
                    ),
                ),
                ("end", models.CharField(editable=False, help_text="Last characters", max_length=4)),
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
                        default=accounts.models.api_keys.every_scope,
                        help_text="Permissions: read or write orders and reservations",
                        size=None,
                    ),
                ),
                ("allowance", models.PositiveIntegerField(default=1000, help_text="Requests an hour")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "last_used_at",
                    models.DateTimeField(blank=True, editable=False, help_text="To the minute", null=True),
                ),
                ("last_used_ip", models.GenericIPAddressField(blank=True, editable=False, null=True)),
            ],
            options={
                "verbose_name": "API key",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("allowance__gte", 1)), name="api_key_allowance_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "scopes__contained_by",
                                ["orders:read", "orders:write", "reservations:read", "reservations:write"],
                            )
                        ),
                        name="api_key_scopes_are_known",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiKeyChange",
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
                        to="accounts.apikey",
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
                    "family",
                    models.UUIDField(
                        default=framework.public_ids.new_id,
                        editable=False,
                        help_text="Shared by a key and its replacements",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "start",
                    models.CharField(
                        editable=False, help_text="First characters, to recognise the key", max_length=12
                    ),
                ),
                ("end", models.CharField(editable=False, help_text="Last characters", max_length=4)),
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
                        default=accounts.models.api_keys.every_scope,
                        help_text="Permissions: read or write orders and reservations",
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
            name="KeyChange",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField(default=0)),
            ],
            options={
                "constraints": [models.CheckConstraint(condition=models.Q(("id", 1)), name="key_changes_are_one_row")],
            },
        ),
        migrations.CreateModel(
            name="Tally",
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
                (
                    "noun",
                    models.CharField(choices=[("order", "Order"), ("reservation", "Reservation")], max_length=12),
                ),
                ("status", models.CharField(max_length=10)),
                ("total", models.BigIntegerField()),
            ],
            options={
                "verbose_name_plural": "tallies",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("venue", "noun", "status"), name="one_tally_per_venue_noun_and_status"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="IdempotentCall",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("scope", models.CharField(max_length=64)),
                ("key", models.CharField(max_length=255)),
                ("operation", models.CharField(help_text="Method and path", max_length=255)),
                ("body_sha256", models.BinaryField(max_length=32)),
                ("status", models.PositiveSmallIntegerField(null=True)),
                ("headers", models.JSONField(default=dict)),
                ("body", models.BinaryField(null=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["created_at"], name="idempotent_call_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("scope", "key"), name="idempotency_key_once_in_a_scope"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("body__isnull", True), ("status__isnull", True)),
                            models.Q(("body__isnull", False), ("status__isnull", False)),
                            _connector="OR",
                        ),
                        name="idempotent_call_has_a_whole_answer",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Letter",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("address", models.CharField(max_length=254)),
                ("subject", models.CharField(max_length=300)),
                ("text", models.TextField(editable=False, help_text="Encrypted")),
                ("created_at", models.DateTimeField()),
                ("next_try_at", models.DateTimeField()),
            ],
            options={
                "indexes": [models.Index(fields=["next_try_at"], name="letter_due")],
            },
        ),
        migrations.CreateModel(
            name="ApiCall",
            fields=[
                (
                    "id",
                    models.UUIDField(help_text="The X-Request-Id of the response", primary_key=True, serialize=False),
                ),
                (
                    "venue",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_calls",
                        to="accounts.venue",
                    ),
                ),
                (
                    "key",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_calls",
                        to="accounts.apikey",
                    ),
                ),
                ("method", models.CharField(max_length=10)),
                ("path", models.CharField(max_length=500)),
                (
                    "query",
                    models.CharField(blank=True, default="", help_text="Without personal data", max_length=1000),
                ),
                ("status", models.PositiveSmallIntegerField()),
                ("error_code", models.CharField(blank=True, default="", max_length=40)),
                ("duration_ms", models.PositiveIntegerField()),
                ("address", models.GenericIPAddressField(blank=True, null=True)),
                ("user_agent", models.CharField(blank=True, default="", max_length=200)),
                ("body", models.TextField(blank=True, default="", help_text="Only of failed requests (4xx), masked")),
                ("answer", models.TextField(blank=True, default="", help_text="Only of failed requests (4xx)")),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "API call",
                "indexes": [
                    models.Index(fields=["venue", "-created_at", "-id"], name="api_call_newest_of_venue"),
                    models.Index(
                        condition=models.Q(("status__gte", 400)),
                        fields=["venue", "-created_at", "-id"],
                        name="api_call_failed_of_venue",
                    ),
                    models.Index(
                        condition=models.Q(("status__gte", 500)),
                        fields=["venue", "-created_at", "-id"],
                        name="api_call_broken_of_venue",
                    ),
                    models.Index(fields=["key", "-created_at", "-id"], name="api_call_newest_of_key"),
                    models.Index(fields=["created_at"], name="api_call_by_age"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiHour",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "venue",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="api_hours",
                        to="accounts.venue",
                    ),
                ),
                ("hour", models.DateTimeField(help_text="Start of the hour, in UTC")),
                ("calls", models.PositiveIntegerField(default=0)),
                ("refused", models.PositiveIntegerField(default=0, help_text="Answered with 4xx")),
                ("broken", models.PositiveIntegerField(default=0, help_text="Answered with 5xx")),
            ],
            options={
                "verbose_name": "API hour",
                "indexes": [models.Index(fields=["hour"], name="api_hour_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("venue", "hour"), name="one_api_hour_per_venue_and_hour")
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
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
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="accounts.venue",
                    ),
                ),
                (
                    "account",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        help_text="Instead of the venue, for events of no venue, such as exports",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="accounts.account",
                    ),
                ),
                (
                    "type",
                    models.CharField(
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
                ),
                (
                    "subject",
                    models.UUIDField(
                        blank=True, help_text="Primary key of the order, reservation or export", null=True
                    ),
                ),
                ("actor", models.CharField(max_length=300)),
                ("record", models.JSONField()),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["venue", "-created_at", "-id"], name="event_newest_of_venue"),
                    models.Index(
                        condition=models.Q(("account__isnull", False)),
                        fields=["account", "-created_at", "-id"],
                        name="event_newest_of_account",
                    ),
                    models.Index(
                        condition=models.Q(("subject__isnull", False)),
                        fields=["subject", "created_at"],
                        name="event_of_subject",
                    ),
                    models.Index(fields=["created_at"], name="event_by_age"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("account__isnull", True), ("venue__isnull", False)),
                            models.Q(("account__isnull", False), ("venue__isnull", True)),
                            _connector="OR",
                        ),
                        name="event_is_of_a_venue_or_an_account",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpoint",
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
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="webhook_endpoints",
                        to="accounts.venue",
                    ),
                ),
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
                ("secret", models.BinaryField(help_text="Encrypted")),
                (
                    "old_secret",
                    models.BinaryField(
                        blank=True, help_text="Encrypted; still valid for a while after a rotation", null=True
                    ),
                ),
                ("old_secret_until", models.DateTimeField(blank=True, editable=False, null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("failing_since", models.DateTimeField(blank=True, editable=False, null=True)),
                ("is_slow", models.BooleanField(db_default=False, default=False, editable=False)),
                ("disabled_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "disabled_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("staff", "disabled manually"),
                            ("gone", "the server answered 410"),
                            ("failing", "failed for five days"),
                        ],
                        editable=False,
                        max_length=10,
                        null=True,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("disabled_at__isnull", True), ("disabled_reason__isnull", True)),
                            models.Q(("disabled_at__isnull", False), ("disabled_reason__isnull", False)),
                            _connector="OR",
                        ),
                        name="webhook_endpoint_says_why_it_is_off",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("old_secret__isnull", True), ("old_secret_until__isnull", True)),
                            models.Q(("old_secret__isnull", False), ("old_secret_until__isnull", False)),
                            _connector="OR",
                        ),
                        name="webhook_old_secret_has_an_end",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookEndpointChange",
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
                        to="accounts.webhookendpoint",
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
                            ("staff", "disabled manually"),
                            ("gone", "the server answered 410"),
                            ("failing", "failed for five days"),
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
        migrations.CreateModel(
            name="WebhookDelivery",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "event",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="deliveries", to="accounts.event"
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="deliveries",
                        to="accounts.webhookendpoint",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("pending", "Pending"), ("delivered", "Delivered"), ("failed", "Failed")],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("tries", models.PositiveSmallIntegerField(default=0)),
                ("next_try_at", models.DateTimeField(blank=True, null=True)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("last_try_at", models.DateTimeField(blank=True, null=True)),
                (
                    "last_status",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="HTTP status of the last response", null=True
                    ),
                ),
                (
                    "last_answer",
                    models.CharField(
                        blank=True, default="", help_text="First 1 kB of the last response", max_length=1024
                    ),
                ),
                (
                    "last_error",
                    models.CharField(blank=True, default="", help_text="Why the last attempt failed", max_length=300),
                ),
                ("delivered_at", models.DateTimeField(blank=True, null=True)),
                ("failed_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "verbose_name_plural": "webhook deliveries",
                "indexes": [
                    models.Index(fields=["endpoint", "-created_at", "-id"], name="delivery_newest_of_endpoint"),
                    models.Index(
                        condition=models.Q(("state", "pending")), fields=["next_try_at"], name="delivery_due"
                    ),
                    models.Index(
                        condition=models.Q(("state", "pending")),
                        fields=["endpoint", "next_try_at"],
                        name="delivery_due_of_endpoint",
                    ),
                    models.Index(
                        condition=models.Q(("leased_until__isnull", False), ("state", "pending")),
                        fields=["endpoint"],
                        name="delivery_under_way_of_endpoint",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("event", "endpoint"), name="event_is_told_to_an_endpoint_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("next_try_at__isnull", False), ("state", "pending")),
                            models.Q(models.Q(("state", "pending"), _negated=True), ("next_try_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="webhook_delivery_has_a_next_try_while_pending",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("delivered_at__isnull", False), ("state", "delivered")),
                            models.Q(models.Q(("state", "delivered"), _negated=True), ("delivered_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="webhook_delivery_says_when_it_arrived",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="WebhookLetter",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="letters",
                        to="accounts.webhookendpoint",
                    ),
                ),
                ("address", models.CharField(max_length=254)),
                ("subject", models.CharField(max_length=300)),
                ("text", models.TextField()),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name="account",
            name="members",
            field=models.ManyToManyField(
                related_name="accounts", through="accounts.Membership", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="groups",
            field=models.ManyToManyField(
                blank=True,
                help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                related_name="user_set",
                related_query_name="user",
                to="auth.group",
                verbose_name="groups",
            ),
        ),
        migrations.AddField(
            model_name="user",
            name="user_permissions",
            field=models.ManyToManyField(
                blank=True,
                help_text="Specific permissions for this user.",
                related_name="user_set",
                related_query_name="user",
                to="auth.permission",
                verbose_name="user permissions",
            ),
        ),
        migrations.AddField(
            model_name="membership",
            name="venues",
            field=models.ManyToManyField(
                blank=True,
                help_text="The venues of a limited membership",
                related_name="memberships",
                to="accounts.venue",
            ),
        ),
        migrations.AddField(
            model_name="invitation",
            name="venues",
            field=models.ManyToManyField(blank=True, related_name="+", to="accounts.venue"),
        ),
        migrations.RunPython(create_groups, migrations.RunPython.noop),
        migrations.RunPython(create_references, migrations.RunPython.noop),
    ]
