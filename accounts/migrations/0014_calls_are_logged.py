"""The request log of the management API, and its counts by the hour."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0013_guests_book_on_a_page_of_the_venue")]

    operations = [
        migrations.CreateModel(
            name="ApiCall",
            fields=[
                (
                    "id",
                    models.UUIDField(help_text="That of the answer's X-Request-Id", primary_key=True, serialize=False),
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
                (
                    "body",
                    models.TextField(blank=True, default="", help_text="Of a refused call (4xx) alone, and masked"),
                ),
                ("answer", models.TextField(blank=True, default="", help_text="Of a refused call (4xx) alone")),
                ("created_at", models.DateTimeField()),
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
                    models.Index(fields=["created_at"], name="api_call_by_age"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiHour",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("hour", models.DateTimeField(help_text="Its beginning, in UTC")),
                ("calls", models.PositiveIntegerField(default=0)),
                ("refused", models.PositiveIntegerField(default=0, help_text="Answered with 4xx")),
                ("broken", models.PositiveIntegerField(default=0, help_text="Answered with 5xx")),
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
            ],
            options={
                "verbose_name": "API hour",
                "indexes": [models.Index(fields=["hour"], name="api_hour_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("venue", "hour"), name="one_api_hour_per_venue_and_hour")
                ],
            },
        ),
    ]
