"""A party at the door is asked for no contact, and a guest who is erased has none any more."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("reservations", "0008_rows_keep_their_history"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="reservation", name="reservation_has_a_contact"),
        migrations.AddField(
            model_name="reservation",
            name="erased_at",
            field=models.DateTimeField(
                blank=True, editable=False, help_text="Since then nothing here says who the guest was", null=True
            ),
        ),
        migrations.AddField(
            model_name="reservation",
            name="is_walk_in",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="Came in without a reservation",
                verbose_name="walk-in",
            ),
        ),
        migrations.AddConstraint(
            model_name="reservation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("customer_email__isnull", False),
                    ("customer_phone__isnull", False),
                    ("is_walk_in", True),
                    ("erased_at__isnull", False),
                    _connector="OR",
                ),
                name="reservation_has_a_contact",
            ),
        ),
    ]
