"""Claims of restaurants by venues, and what the venue then keeps: description, menu link, replies, days without offers."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import framework.public_ids
from framework.db.sql_files import run_sql_files


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0013_back_office"),
        ("catalogue", "0017_menus_are_exported"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="flowrule",
            name="except_dates",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.DateField(),
                blank=True,
                db_default=[],
                default=list,
                help_text="Days without this discount, separated by commas: 2026-12-24, 2026-12-31",
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="restaurant",
            name="description",
            field=models.CharField(
                blank=True, help_text="What the restaurant says about itself", max_length=1000, null=True
            ),
        ),
        migrations.AddField(
            model_name="restaurant",
            name="menu_url",
            field=models.URLField(blank=True, help_text="Page with the menu", max_length=500, null=True),
        ),
        migrations.AddField(
            model_name="review",
            name="keeps_reply",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Written or removed on the dashboard: imports do not change the reply",
            ),
        ),
        migrations.CreateModel(
            name="RestaurantClaim",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "method",
                    models.CharField(
                        choices=[
                            ("mail", "Code to the record's domain"),
                            ("staff", "Our staff"),
                            ("listing", "Listing by our staff"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("code_sent", "Code Sent"),
                            ("open", "Waiting for staff"),
                            ("verified", "Verified"),
                            ("refused", "Refused"),
                            ("ended", "Ended"),
                        ],
                        max_length=10,
                    ),
                ),
                ("note", models.CharField(blank=True, help_text="What the claimant tells our staff", max_length=500)),
                ("address", models.EmailField(blank=True, help_text="To which the code was sent", max_length=254)),
                (
                    "code_hash",
                    models.CharField(
                        blank=True, editable=False, help_text="Keyed hash; empty once used", max_length=64
                    ),
                ),
                ("attempts", models.PositiveSmallIntegerField(default=0, help_text="With the last code")),
                ("code_expires_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                ("reason", models.CharField(blank=True, help_text="Why it was refused or ended", max_length=300)),
                (
                    "decided_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "restaurant",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="claims", to="catalogue.restaurant"
                    ),
                ),
                (
                    "venue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="claims", to="accounts.venue"
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["state", "created_at"], name="claim_oldest_of_state")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "verified")),
                        fields=("restaurant",),
                        name="unique_verified_claim_of_restaurant",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["code_sent", "open", "verified"])),
                        fields=("venue",),
                        name="unique_current_claim_of_venue",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("decided_at__isnull", True), ("state__in", ["code_sent", "open"])),
                            models.Q(
                                models.Q(("state__in", ["code_sent", "open"]), _negated=True),
                                ("decided_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="decided_claim_requires_timestamp",
                    ),
                ],
            },
        ),
        run_sql_files("catalogue", "restaurant_record"),
    ]
