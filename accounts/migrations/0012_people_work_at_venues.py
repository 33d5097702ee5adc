"""Members may be limited to venues, are invited by mail, and an account can be closed."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import config.api.ids


class Migration(migrations.Migration):
    dependencies = [("accounts", "0011_events_of_accounts")]

    operations = [
        migrations.AddField(
            model_name="account",
            name="closed_at",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="Its owner has closed it; what it has is deleted later",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="membership",
            name="created_at",
            field=models.DateTimeField(auto_now_add=True, default=django.utils.timezone.now),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="membership",
            name="venues",
            field=models.ManyToManyField(
                blank=True,
                help_text="None: all of the account's, also later ones",
                related_name="memberships",
                to="accounts.venue",
            ),
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                (
                    "id",
                    models.UUIDField(default=config.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("email", models.EmailField(max_length=254)),
                (
                    "role",
                    models.CharField(
                        choices=[("owner", "Owner"), ("manager", "Manager"), ("host", "Host"), ("kitchen", "Kitchen")],
                        max_length=20,
                    ),
                ),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("withdrawn_at", models.DateTimeField(blank=True, null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="invitations", to="accounts.account"
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
                (
                    "venues",
                    models.ManyToManyField(blank=True, help_text="None: all", related_name="+", to="accounts.venue"),
                ),
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
    ]
