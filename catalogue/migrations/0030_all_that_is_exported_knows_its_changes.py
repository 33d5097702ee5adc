"""What lines of exports are made of keeps the database's own moment of its last change."""

import django.contrib.postgres.indexes
import django.db.models.functions.datetime
from django.db import migrations, models

MODELS = ("cuisine", "source", "insight", "record", "version")
# All that is told of a version: its place in the feed is given later.
TOLD = ("restaurant_id", "version", "at", "actor", "kind", "patch")

# Figures of reviews that no version speaks of are exported beside the record.
FIGURES = """
CREATE FUNCTION figures_were_counted() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_record AS held SET updated_at = now()
    FROM was JOIN became AS now ON now.id = was.id
    WHERE held.restaurant_id = now.id AND held.updated_at <> now()
        AND (was.star_counts, was.review_facets) IS DISTINCT FROM (now.star_counts, now.review_facets);
    RETURN NULL;
END
$$;
CREATE TRIGGER restaurant_figures AFTER UPDATE ON catalogue_restaurant
    REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION figures_were_counted();
"""
# An insight that is gone can say no more when that was.
WITHDRAWN = """
CREATE FUNCTION insights_were_removed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_record AS held SET updated_at = now() FROM gone WHERE held.restaurant_id = gone.restaurant_id;
    RETURN NULL;
END
$$;
CREATE TRIGGER insight_removals AFTER DELETE ON catalogue_insight
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION insights_were_removed();
"""


def noted(table: str) -> str:
    """The trigger of a table."""
    if table == "version":
        was, became = (", ".join(f"{side}.{name}" for name in TOLD) for side in ("old", "new"))
        has_changed = f"({was}) IS DISTINCT FROM ({became})"
    else:
        has_changed = "old.* IS DISTINCT FROM new.*"
    return (
        f"CREATE TRIGGER {table}_notes_change BEFORE UPDATE ON catalogue_{table}"
        f" FOR EACH ROW WHEN ({has_changed}) EXECUTE FUNCTION note_change()"
    )


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0029_removals_are_noted")]
    operations = [
        *(
            migrations.AddField(
                model_name=model,
                name="updated_at",
                field=models.DateTimeField(
                    db_default=django.db.models.functions.datetime.Now(), editable=False, help_text="Kept by a trigger"
                ),
            )
            for model in MODELS
        ),
        *(
            migrations.RunSQL(noted(table), f"DROP TRIGGER {table}_notes_change ON catalogue_{table}")
            for table in MODELS
        ),
        migrations.RunSQL(FIGURES, "DROP FUNCTION figures_were_counted() CASCADE"),
        migrations.RunSQL(WITHDRAWN, "DROP FUNCTION insights_were_removed() CASCADE"),
        migrations.AddIndex(
            model_name="record",
            index=django.contrib.postgres.indexes.BrinIndex(
                autosummarize=True, fields=["updated_at"], name="record_by_update"
            ),
        ),
        migrations.AddIndex(
            model_name="review",
            index=django.contrib.postgres.indexes.BrinIndex(
                autosummarize=True, fields=["updated_at"], name="review_by_update"
            ),
        ),
    ]
