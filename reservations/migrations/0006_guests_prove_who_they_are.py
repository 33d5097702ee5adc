"""A booking may wait until its guest has followed a mailed link."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("reservations", "0005_booleans_are_named"),
    ]

    operations = [
        migrations.AddField(
            model_name="reservation",
            name="prove_by",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="It is kept until then for a guest who is to follow a mailed link",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="reservation",
            name="pending_reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("manual", "staff confirm each one"),
                    ("large_party", "the party is large"),
                    ("waitlist", "no table is free"),
                    ("proof", "the guest has not followed the mailed link yet"),
                ],
                max_length=20,
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="notice",
            name="kind",
            field=models.CharField(
                choices=[
                    ("confirmed", "the table is yours"),
                    ("requested", "we have your request"),
                    ("waitlisted", "you are on the waiting list"),
                    ("offered", "a table has become free"),
                    ("cancelled", "the reservation is cancelled"),
                    ("proof", "is it you?"),
                    ("moved", "the reservation has changed"),
                    ("reminder", "see you tomorrow"),
                ],
                max_length=12,
            ),
        ),
        migrations.AddIndex(
            model_name="reservation",
            index=models.Index(condition=Q(prove_by__isnull=False), fields=["prove_by"], name="reservation_unproven"),
        ),
        migrations.AddConstraint(
            model_name="reservation",
            constraint=models.CheckConstraint(
                name="reservation_says_until_when_it_waits_for_proof",
                condition=Q(prove_by__isnull=False, pending_reason="proof")
                | (Q(prove_by__isnull=True) & (Q(pending_reason__isnull=True) | ~Q(pending_reason="proof"))),
            ),
        ),
    ]
