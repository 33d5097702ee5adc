import django.contrib.postgres.constraints
import django.contrib.postgres.fields
import django.contrib.postgres.fields.ranges
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.text
import pghistory.utils
import pgtrigger.compiler
from django.contrib.postgres.operations import BtreeGinExtension, BtreeGistExtension, TrigramExtension
from django.db import migrations, models

import framework.public_ids
import reservations.models.reservations
from framework.db.deferred_sql import create_references


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("accounts", "0001_initial"),
    ]

    operations = [
        BtreeGistExtension(),
        TrigramExtension(),
        BtreeGinExtension(),
        migrations.CreateModel(
            name="Reservation",
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
                        related_name="reservations",
                        to="accounts.venue",
                    ),
                ),
                (
                    "code",
                    models.CharField(
                        default=reservations.models.reservations.generate_code, editable=False, max_length=6
                    ),
                ),
                (
                    "status",
                    models.CharField(
                        choices=[("confirmed", "Confirmed"), ("pending", "Pending"), ("cancelled", "Cancelled")],
                        max_length=10,
                    ),
                ),
                (
                    "pending_reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("manual", "staff confirm each reservation"),
                            ("large_party", "large party"),
                            ("waitlist", "no table is free"),
                            ("email_confirmation", "not confirmed by email yet"),
                        ],
                        max_length=20,
                        null=True,
                    ),
                ),
                ("customer_name", models.CharField(max_length=200)),
                ("customer_email", models.EmailField(blank=True, max_length=254, null=True)),
                (
                    "customer_phone",
                    models.CharField(
                        blank=True, help_text="In international format, with a plus", max_length=16, null=True
                    ),
                ),
                ("date", models.DateField(help_text="In the venue's time zone")),
                ("time", models.TimeField(help_text="In the venue's time zone")),
                ("starts_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField()),
                ("party_size", models.PositiveSmallIntegerField()),
                (
                    "tables",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20),
                        blank=True,
                        default=list,
                        help_text="Table names; if the venue has tables, the seatings contain the same tables",
                        size=None,
                    ),
                ),
                ("special_requests", models.TextField(blank=True, default="", max_length=2000)),
                ("metadata", models.JSONField(blank=True, default=dict)),
                ("version", models.PositiveIntegerField(default=1)),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                ("cancelled_at", models.DateTimeField(blank=True, null=True)),
                (
                    "arrival",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("arrived", "Arrived"),
                            ("seated", "Seated"),
                            ("finished", "Finished"),
                            ("no_show", "no-show"),
                        ],
                        help_text="Arrival state recorded by staff",
                        max_length=10,
                        null=True,
                    ),
                ),
                (
                    "offered_until",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="End of the current offer of a table to this party on the waiting list",
                        null=True,
                    ),
                ),
                (
                    "confirm_by",
                    models.DateTimeField(
                        blank=True,
                        editable=False,
                        help_text="Deadline for the guest to confirm by email; the table is held until then",
                        null=True,
                    ),
                ),
                (
                    "offer_count",
                    models.PositiveSmallIntegerField(
                        default=0,
                        editable=False,
                    ),
                ),
                (
                    "is_walk_in",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        editable=False,
                        help_text="Came without a reservation",
                        verbose_name="walk-in",
                    ),
                ),
                (
                    "erased_at",
                    models.DateTimeField(
                        blank=True, editable=False, help_text="When the guest's data was erased", null=True
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["venue", "starts_at", "id"], name="reservation_by_venue_start"),
                    models.Index(fields=["venue", "date", "starts_at", "id"], name="reservation_by_venue_date"),
                    models.Index(
                        condition=models.Q(("pending_reason", "waitlist"), ("status", "pending")),
                        fields=["venue", "starts_at", "created_at"],
                        name="reservation_waitlisted",
                    ),
                    models.Index(
                        condition=models.Q(("confirm_by__isnull", False)),
                        fields=["confirm_by"],
                        name="reservation_unconfirmed",
                    ),
                    models.Index(
                        models.F("venue"),
                        django.db.models.functions.text.Lower("customer_email"),
                        name="reservation_by_email",
                    ),
                    models.Index(fields=["venue", "customer_phone"], name="reservation_by_phone"),
                    django.contrib.postgres.indexes.GinIndex(
                        models.F("venue"),
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.text.Upper(
                                django.db.models.functions.text.Concat(
                                    "customer_name",
                                    models.Value("\n"),
                                    "customer_email",
                                    models.Value("\n"),
                                    "customer_phone",
                                    output_field=models.TextField(),
                                )
                            ),
                            name="gin_trgm_ops",
                        ),
                        name="reservation_by_guest_trigram",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("venue", "code"), name="reservation_code_unique_per_venue"),
                    models.CheckConstraint(
                        condition=models.Q(("party_size__range", (1, 500))), name="reservation_party_size_in_1_to_500"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("starts_at"))),
                        name="reservation_ends_after_it_starts",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("customer_email__isnull", False),
                            ("customer_phone__isnull", False),
                            ("is_walk_in", True),
                            ("erased_at__isnull", False),
                            _connector="OR",
                        ),
                        name="reservation_has_contact",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("pending_reason__isnull", False), ("status", "pending")),
                            models.Q(models.Q(("status", "pending"), _negated=True), ("pending_reason__isnull", True)),
                            _connector="OR",
                        ),
                        name="reservation_pending_reason_if_pending",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("cancelled_at__isnull", False), ("status", "cancelled")),
                            models.Q(models.Q(("status", "cancelled"), _negated=True), ("cancelled_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="reservation_cancelled_at_if_cancelled",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("arrival__isnull", True), ("status", "confirmed"), _connector="OR"),
                        name="reservation_arrival_only_if_confirmed",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("offered_until__isnull", True),
                            models.Q(("pending_reason", "waitlist"), ("status", "pending")),
                            _connector="OR",
                        ),
                        name="reservation_offer_only_if_waitlisted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("confirm_by__isnull", False), ("pending_reason", "email_confirmation")),
                            models.Q(
                                ("confirm_by__isnull", True),
                                models.Q(
                                    ("pending_reason__isnull", True),
                                    models.Q(("pending_reason", "email_confirmation"), _negated=True),
                                    _connector="OR",
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="reservation_confirm_by_if_email_confirmation",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GuestMail",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "reservation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="guest_mails",
                        to="reservations.reservation",
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("confirmed", "confirmed"),
                            ("requested", "request received"),
                            ("waitlisted", "added to the waiting list"),
                            ("offered", "table offered"),
                            ("cancelled", "cancelled"),
                            ("email_confirmation", "confirm the booking"),
                            ("changed", "changed"),
                            ("reminder", "reminder"),
                        ],
                        max_length=20,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("pending", "Pending"),
                            ("sent", "Sent"),
                            ("failed", "Failed"),
                            ("dropped", "outdated"),
                        ],
                        default="pending",
                        max_length=10,
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("next_attempt_at", models.DateTimeField()),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("last_error", models.CharField(blank=True, default="", max_length=300)),
                ("created_at", models.DateTimeField()),
                ("sent_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "pending")), fields=["next_attempt_at"], name="guest_mail_due"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "reminder")),
                        fields=("reservation",),
                        name="guest_mail_one_reminder",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("sent_at__isnull", False), ("state", "sent")),
                            models.Q(models.Q(("state", "sent"), _negated=True), ("sent_at__isnull", True)),
                            _connector="OR",
                        ),
                        name="guest_mail_sent_at_if_sent",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GuestProfile",
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="guest_profiles", to="accounts.venue"
                    ),
                ),
                ("note", models.TextField(blank=True, default="", max_length=2000)),
                (
                    "tags",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=30),
                        blank=True,
                        default=list,
                        help_text="Allergies, regular, VIP",
                        size=None,
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="merged",
                        to="reservations.guestprofile",
                    ),
                ),
                ("updated_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("merged_into__isnull", True),
                            models.Q(("merged_into", models.F("id")), _negated=True),
                            _connector="OR",
                        ),
                        name="guest_profile_not_merged_into_itself",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GuestContact",
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
                    "profile",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="contacts",
                        to="reservations.guestprofile",
                    ),
                ),
                ("address", models.CharField(max_length=254)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("venue", "address"), name="guest_contact_unique_per_venue")
                ],
            },
        ),
        migrations.CreateModel(
            name="OnlineBooking",
            fields=[
                (
                    "form_key",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "reservation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="online_booking",
                        to="reservations.reservation",
                    ),
                ),
                ("content_hash", models.CharField(help_text="Hash of the submitted values", max_length=64)),
                (
                    "contact_hash",
                    models.CharField(help_text="Keyed hash of the guest's email address or number", max_length=64),
                ),
                ("ip_hash", models.CharField(help_text="Keyed hash of the client's IP address", max_length=64)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "indexes": [
                    models.Index(fields=["contact_hash"], name="online_booking_by_contact"),
                    models.Index(fields=["ip_hash", "created_at"], name="online_booking_by_ip"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ServicePeriod",
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
                        related_name="service_periods",
                        to="accounts.venue",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), help_text="0 is Monday, 6 is Sunday", size=None
                    ),
                ),
                ("first_seating", models.TimeField(help_text="In the venue's time zone")),
                (
                    "last_seating",
                    models.TimeField(help_text="In the venue's time zone; if earlier than the first, on the next day"),
                ),
                (
                    "slot_min",
                    models.PositiveSmallIntegerField(default=15, help_text="Minutes from one seating to the next"),
                ),
                (
                    "pacing_covers",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="Maximum guests per slot; empty: no limit", null=True
                    ),
                ),
                (
                    "turn_2_min",
                    models.PositiveSmallIntegerField(
                        default=90, help_text="Seating duration in minutes for up to 2 guests"
                    ),
                ),
                ("turn_4_min", models.PositiveSmallIntegerField(default=105, help_text="Up to 4")),
                ("turn_6_min", models.PositiveSmallIntegerField(default=120, help_text="Up to 6")),
                ("turn_more_min", models.PositiveSmallIntegerField(default=150, help_text="More than 6")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("weekdays__contained_by", [0, 1, 2, 3, 4, 5, 6]), ("weekdays__len__gte", 1)
                        ),
                        name="service_period_has_weekdays",
                        violation_error_message="Weekdays are numbers from 0 (Monday) to 6 (Sunday).",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("slot_min__gte", 5), ("slot_min__lte", 240)),
                        name="service_period_slots_of_5_to_240_minutes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("pacing_covers__isnull", True), ("pacing_covers__gte", 1), _connector="OR"
                        ),
                        name="service_period_pacing_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("turn_2_min__range", (15, 720)),
                            ("turn_4_min__range", (15, 720)),
                            ("turn_6_min__range", (15, 720)),
                            ("turn_more_min__range", (15, 720)),
                        ),
                        name="service_period_turns_of_15_to_720_minutes",
                        violation_error_message="Guests stay 15 to 720 minutes.",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                ],
            },
        ),
        migrations.CreateModel(
            name="ServicePeriodChange",
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
                        to="reservations.serviceperiod",
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
                ("name", models.CharField(max_length=100)),
                (
                    "weekdays",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveSmallIntegerField(), help_text="0 is Monday, 6 is Sunday", size=None
                    ),
                ),
                ("first_seating", models.TimeField(help_text="In the venue's time zone")),
                (
                    "last_seating",
                    models.TimeField(help_text="In the venue's time zone; if earlier than the first, on the next day"),
                ),
                (
                    "slot_min",
                    models.PositiveSmallIntegerField(default=15, help_text="Minutes from one seating to the next"),
                ),
                (
                    "pacing_covers",
                    models.PositiveSmallIntegerField(
                        blank=True, help_text="Maximum guests per slot; empty: no limit", null=True
                    ),
                ),
                (
                    "turn_2_min",
                    models.PositiveSmallIntegerField(
                        default=90, help_text="Seating duration in minutes for up to 2 guests"
                    ),
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
            name="Closure",
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
                        on_delete=django.db.models.deletion.CASCADE, related_name="closures", to="accounts.venue"
                    ),
                ),
                ("first_date", models.DateField(help_text="In the venue's time zone")),
                ("last_date", models.DateField(help_text="Included")),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Shown to guests, for example: Closed for Easter",
                        max_length=200,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("last_date__gte", models.F("first_date"))),
                        name="closure_last_date_not_before_first",
                        violation_error_message="The last day is before the first.",
                    )
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                ],
            },
        ),
        migrations.CreateModel(
            name="ClosureChange",
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
                        to="reservations.closure",
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
                ("first_date", models.DateField(help_text="In the venue's time zone")),
                ("last_date", models.DateField(help_text="Included")),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Shown to guests, for example: Closed for Easter",
                        max_length=200,
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Area",
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
                        related_name="areas",
                        to="accounts.venue",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("position", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("venue", "name"), name="area_name_unique_per_venue")],
            },
        ),
        migrations.CreateModel(
            name="Table",
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
                        related_name="tables",
                        to="accounts.venue",
                    ),
                ),
                (
                    "area",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="tables",
                        to="reservations.area",
                    ),
                ),
                ("name", models.CharField(max_length=20)),
                ("seats_min", models.PositiveSmallIntegerField(default=1, help_text="Smallest party")),
                ("seats_max", models.PositiveSmallIntegerField(help_text="Largest party")),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Among tables of the same size, the lowest is assigned first"
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="If off, the table is not assigned to new reservations",
                        verbose_name="active",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("venue", "name"), name="table_name_unique_per_venue"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("seats_max__gte", models.F("seats_min")), ("seats_max__lte", 500), ("seats_min__gte", 1)
                        ),
                        name="table_seats_valid",
                        violation_error_message="Seats are 1 to 500, and the maximum is not below the minimum.",
                    ),
                ],
                "triggers": [
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                    pgtrigger.compiler.Trigger(
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
                ],
            },
        ),
        migrations.CreateModel(
            name="TableChange",
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
                        to="reservations.table",
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
                    "area",
                    models.ForeignKey(
                        blank=True,
                        db_constraint=False,
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        related_query_name="+",
                        to="reservations.area",
                    ),
                ),
                ("name", models.CharField(max_length=20)),
                ("seats_min", models.PositiveSmallIntegerField(default=1, help_text="Smallest party")),
                ("seats_max", models.PositiveSmallIntegerField(help_text="Largest party")),
                (
                    "priority",
                    models.PositiveSmallIntegerField(
                        default=0, help_text="Among tables of the same size, the lowest is assigned first"
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="If off, the table is not assigned to new reservations",
                        verbose_name="active",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Combination",
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
                        related_name="combinations",
                        to="accounts.venue",
                    ),
                ),
                ("name", models.CharField(max_length=100)),
                ("seats_min", models.PositiveSmallIntegerField()),
                ("seats_max", models.PositiveSmallIntegerField()),
                ("priority", models.PositiveSmallIntegerField(default=0)),
                ("is_active", models.BooleanField(default=True, verbose_name="active")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("venue", "name"), name="combination_name_unique_per_venue"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("seats_max__gte", models.F("seats_min")), ("seats_max__lte", 500), ("seats_min__gte", 1)
                        ),
                        name="combination_seats_valid",
                        violation_error_message="Seats are 1 to 500, and the maximum is not below the minimum.",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Seating",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "reservation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="seatings",
                        to="reservations.reservation",
                    ),
                ),
                (
                    "table",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="seatings",
                        to="reservations.table",
                    ),
                ),
                ("during", django.contrib.postgres.fields.ranges.DateTimeRangeField(help_text="[start, end) in UTC")),
            ],
            options={
                "constraints": [
                    django.contrib.postgres.constraints.ExclusionConstraint(
                        expressions=[("table", "="), ("during", "&&")], name="seating_no_table_overlap"
                    ),
                    models.CheckConstraint(condition=models.Q(("during__isempty", False)), name="seating_not_empty"),
                ],
            },
        ),
        migrations.AddField(
            model_name="combination",
            name="tables",
            field=models.ManyToManyField(related_name="combinations", to="reservations.table"),
        ),
        migrations.RunPython(create_references, migrations.RunPython.noop),
    ]
