"""An insight is outdated as soon as something that it was written from is changed or gone, whoever does that."""

from django.db import migrations, models

# Who writes an insight holds its restaurant, so it is marked before it is read for, or after it is written.
OUTDATE = """
CREATE FUNCTION outdate_insights(places uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF cardinality(places) > 0 THEN
        PERFORM FROM catalogue_restaurant WHERE id = ANY (places) ORDER BY id FOR NO KEY UPDATE;
        UPDATE catalogue_insight SET is_outdated = true WHERE restaurant_id = ANY (places) AND NOT is_outdated;
    END IF;
END
$$
"""
CHANGED = """
CREATE FUNCTION {table}_of_insights_changed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM outdate_insights(ARRAY(
        SELECT DISTINCT unnest(ARRAY[was.{place}, now.{place}]) FROM was JOIN became AS now ON now.id = was.id
        WHERE ({was}) IS DISTINCT FROM ({now})
    ));
    RETURN NULL;
END
$$;
CREATE TRIGGER {table}_outdates_insights AFTER UPDATE ON catalogue_{table}
    REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT
    EXECUTE FUNCTION {table}_of_insights_changed();
"""
TOLD = """
CREATE FUNCTION outdate_insights_told_of() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM outdate_insights(ARRAY(SELECT DISTINCT restaurant_id FROM told));
    RETURN NULL;
END
$$;
CREATE TRIGGER review_outdates_insights_at_last AFTER DELETE ON catalogue_review
    REFERENCING OLD TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION outdate_insights_told_of();
CREATE TRIGGER flowrule_outdates_insights_at_last AFTER DELETE ON catalogue_flowrule
    REFERENCING OLD TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION outdate_insights_told_of();
CREATE TRIGGER flowrule_outdates_insights_at_first AFTER INSERT ON catalogue_flowrule
    REFERENCING NEW TABLE AS told FOR EACH STATEMENT EXECUTE FUNCTION outdate_insights_told_of();
"""
# What a digest is made of, but for a name, which changes no claim; new reviews are judged by their number.
READ = {
    "review": ("restaurant_id", "stars", "text", "lang", "created_at"),
    "flowrule": ("restaurant_id", "weekdays", "time", "percent", "active"),
    "restaurant": ("hours",),
}


def changed(table: str) -> str:
    """The trigger of a table whose rows change."""
    was, now = (", ".join(f"{side}.{name}" for name in READ[table]) for side in ("was", "now"))
    place = "id" if table == "restaurant" else "restaurant_id"
    return CHANGED.format(table=table, place=place, was=was, now=now)


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0030_all_that_is_exported_knows_its_changes")]
    operations = [
        # Nobody watched what is there already: it is looked at once, and confirmed where nothing changed.
        migrations.AddField(
            model_name="insight",
            name="is_outdated",
            field=models.BooleanField(
                default=False,
                db_default=True,
                editable=False,
                help_text="Something that it was written from has changed since",
            ),
        ),
        migrations.AlterField(
            model_name="insight",
            name="is_outdated",
            field=models.BooleanField(
                default=False,
                db_default=False,
                editable=False,
                help_text="Something that it was written from has changed since",
            ),
        ),
        migrations.RunSQL(OUTDATE, "DROP FUNCTION outdate_insights(uuid[])"),
        *(migrations.RunSQL(changed(table), f"DROP FUNCTION {table}_of_insights_changed() CASCADE") for table in READ),
        migrations.RunSQL(TOLD, "DROP FUNCTION outdate_insights_told_of() CASCADE"),
    ]
