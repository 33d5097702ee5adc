"""Reviews, photos and landmarks keep the moment of their last change; parts of exports keep the names of their files."""

from django.db import migrations

FUNCTION = """
CREATE FUNCTION note_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END
$$
"""
TABLES = ("review", "photo", "landmark")
# The names are another landmark's column: it has changed with each of them.
NAMES = """
CREATE FUNCTION landmark_was_renamed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_landmark SET updated_at = now() WHERE id = coalesce(NEW.landmark_id, OLD.landmark_id);
    RETURN NULL;
END
$$
"""
NAMED = """
CREATE TRIGGER landmark_was_renamed AFTER INSERT OR UPDATE OR DELETE ON catalogue_landmarkname
FOR EACH ROW EXECUTE FUNCTION landmark_was_renamed()
"""
FILES = """
UPDATE catalogue_exportpart AS part SET token = part.tries, file = part.id || '-' || part.tries || '.' || export.format
FROM catalogue_export AS export WHERE export.id = part.export_id AND part.state <> 'waiting'
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0025_exports_of_every_dataset")]
    operations = [
        migrations.RunSQL(FUNCTION, "DROP FUNCTION note_change() CASCADE"),
        *(
            migrations.RunSQL(
                f"CREATE TRIGGER {table}_notes_change BEFORE UPDATE ON catalogue_{table}"
                " FOR EACH ROW EXECUTE FUNCTION note_change()",
                migrations.RunSQL.noop,
            )
            for table in TABLES
        ),
        migrations.RunSQL(NAMES, "DROP FUNCTION landmark_was_renamed() CASCADE"),
        migrations.RunSQL(NAMED, migrations.RunSQL.noop),
        migrations.RunSQL(FILES, migrations.RunSQL.noop),
    ]
