"""Calls of models know their input, so that nothing is asked twice for it, and of a restaurant one is open at a time."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0027_public_ids_are_made_fast")]

    operations = [
        migrations.AddField(
            model_name="insightcall",
            name="provider_version",
            field=models.CharField(default="", max_length=20),
        ),
        migrations.AddField(
            model_name="insightcall",
            name="input_hash",
            field=models.CharField(default="", help_text="SHA-256 of what it was to write from", max_length=64),
        ),
        migrations.AlterField(
            model_name="insightcall",
            name="outcome",
            field=models.CharField(
                choices=[
                    ("asked", "asked, no answer yet"),
                    ("written", "Written"),
                    ("refused", "the model declined"),
                    ("rejected", "its text did not stand up to the reviews"),
                    ("failed", "no answer, or none that can be read"),
                    ("dropped", "the reviews or the insight changed meanwhile"),
                ],
                default="asked",
                max_length=10,
            ),
        ),
        migrations.RemoveConstraint(model_name="insightcall", name="insight_call_outcome_is_known"),
        migrations.AddConstraint(
            model_name="insightcall",
            constraint=models.CheckConstraint(
                name="insight_call_outcome_is_known",
                condition=Q(outcome__in=["asked", "written", "refused", "rejected", "failed", "dropped"]),
            ),
        ),
        migrations.AddConstraint(
            model_name="insightcall",
            constraint=models.UniqueConstraint(
                fields=["restaurant"],
                name="one_open_insight_call_of_a_restaurant",
                condition=Q(outcome="asked"),
            ),
        ),
    ]
