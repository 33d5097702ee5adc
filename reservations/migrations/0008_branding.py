"""Venues choose the color, logo and photo of their booking page."""

import django.db.models.deletion
from django.db import migrations, models

import framework.public_ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_webhook_endpoint_postponed_until"),
        ("reservations", "0007_reservation_quoted_minutes"),
    ]

    operations = [
        migrations.CreateModel(
            name="BrandingImage",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=framework.public_ids.new_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Branding",
            fields=[
                (
                    "venue",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="branding",
                        serialize=False,
                        to="accounts.venue",
                    ),
                ),
                (
                    "color",
                    models.CharField(
                        blank=True, db_default="", default="", help_text="#rrggbb; empty: ours", max_length=7
                    ),
                ),
                (
                    "logo",
                    models.OneToOneField(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="logo_of",
                        to="reservations.brandingimage",
                    ),
                ),
                (
                    "photo",
                    models.OneToOneField(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="photo_of",
                        to="reservations.brandingimage",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("color", ""), ("color__regex", "^#[0-9a-f]{6}$"), _connector="OR"),
                        name="branding_color_is_hexadecimal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("logo", models.F("photo")), _negated=True),
                        name="branding_logo_is_not_the_photo",
                    ),
                ],
            },
        ),
    ]
