"""What an insight was written from beside what the restaurant counted then, and when its provider failed."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0009_sources_of_an_export_part")]
    operations = [
        migrations.RemoveConstraint(model_name="insight", name="insight_has_enough_reviews"),
        migrations.AddConstraint(
            model_name="insight",
            constraint=models.CheckConstraint(
                name="insight_has_enough_reviews",
                condition=Q(review_count__gte=5) | Q(text=""),
                violation_error_message="Fewer than five reviews say too little.",
            ),
        ),
        migrations.AddField(
            model_name="insight",
            name="failed_at",
            field=models.DateTimeField(
                blank=True, help_text="When the provider failed, if it has not written since", null=True
            ),
        ),
        migrations.AddField(
            model_name="insight",
            name="restaurant_review_count",
            field=models.PositiveIntegerField(default=0, help_text="What the restaurant counted then"),
            preserve_default=False,
        ),
        # Until now the one column held this number.
        migrations.RunSQL(
            "UPDATE catalogue_insight SET restaurant_review_count = review_count", migrations.RunSQL.noop
        ),
    ]
