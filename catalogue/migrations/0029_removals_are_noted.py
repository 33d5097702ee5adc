"""What is deleted leaves a Removal behind, whoever deletes it: a delta tells of it."""

from django.db import migrations

# The beginning of the transaction: what one that began before a snapshot deletes after it is of the next delta.
REMOVED = """
CREATE FUNCTION note_removals() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_removal (dataset, key, at)
    SELECT TG_ARGV[0], public_id(TG_ARGV[1], id), now() FROM gone;
    RETURN NULL;
END
$$
"""
# A version has no public id but this one.
FORGOTTEN = """
CREATE FUNCTION note_removed_versions() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_removal (dataset, key, at)
    SELECT 'history', public_id('rst', restaurant_id) || ':' || version, now() FROM gone;
    RETURN NULL;
END
$$
"""
NOTED = {
    "restaurant": "note_removals('restaurants', 'rst')",
    "review": "note_removals('reviews', 'rev')",
    "photo": "note_removals('photos', 'ph')",
    "landmark": "note_removals('landmarks', 'lm')",
    "version": "note_removed_versions()",
}


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0028_insight_calls_know_what_they_asked")]
    operations = [
        migrations.RunSQL(REMOVED, "DROP FUNCTION note_removals() CASCADE"),
        migrations.RunSQL(FORGOTTEN, "DROP FUNCTION note_removed_versions() CASCADE"),
        *(
            migrations.RunSQL(
                f"CREATE TRIGGER {table}_removals AFTER DELETE ON catalogue_{table}"
                f" REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION {function}",
                migrations.RunSQL.noop,
            )
            for table, function in NOTED.items()
        ),
    ]
