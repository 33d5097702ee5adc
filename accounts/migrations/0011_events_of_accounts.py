"""What happens at no venue, such as the end of an export, is an event of an account."""

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0010_booleans_are_named"),
    ]

    operations = [
        migrations.AddField(
            model_name="event",
            name="account",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                help_text="In place of the venue, of what happens at none: an export",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="accounts.account",
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="subject",
            field=models.UUIDField(
                blank=True, help_text="Key of the order, reservation or export that it is about", null=True
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="venue",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="accounts.venue",
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=Q(account__isnull=False),
                fields=["account", "-created_at", "-id"],
                name="event_newest_of_account",
            ),
        ),
        migrations.AddConstraint(
            model_name="event",
            constraint=models.CheckConstraint(
                condition=Q(venue__isnull=False, account__isnull=True) | Q(venue__isnull=True, account__isnull=False),
                name="event_is_of_a_venue_or_an_account",
            ),
        ),
    ]
