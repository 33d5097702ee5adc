"""Where a review stood in a list before it was changed, so that a walk through pages keeps its place."""

from django.db import migrations, models

FUNCTION = """
CREATE FUNCTION remember_review_places() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_reviewchange
        (restaurant, review, stars, length, helpful_count, photo_count, transaction, at)
    SELECT was.restaurant_id, was.id, was.stars, char_length(was.text), was.helpful_count, was.photo_count,
        pg_current_xact_id()::text::bigint, clock_timestamp()
    FROM was JOIN became AS now ON now.id = was.id
    WHERE (was.stars, char_length(was.text), was.helpful_count, was.photo_count)
        <> (now.stars, char_length(now.text), now.helpful_count, now.photo_count);
    RETURN NULL;
END
$$
"""

TRIGGER = """
CREATE TRIGGER reviews_changed AFTER UPDATE ON catalogue_review
    REFERENCING OLD TABLE AS was NEW TABLE AS became FOR EACH STATEMENT EXECUTE FUNCTION remember_review_places()
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0018_spans_without_indexes")]
    operations = [
        migrations.CreateModel(
            name="ReviewChange",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("restaurant", models.UUIDField()),
                ("review", models.UUIDField()),
                ("stars", models.IntegerField()),
                ("length", models.IntegerField(help_text="Of the text, in characters")),
                ("helpful_count", models.IntegerField()),
                ("photo_count", models.IntegerField()),
                (
                    "transaction",
                    models.BigIntegerField(help_text="Of the database: which walks have seen the change"),
                ),
                ("at", models.DateTimeField()),
            ],
            options={"indexes": [models.Index(fields=["restaurant"], name="review_change_of_restaurant")]},
        ),
        migrations.RunSQL(FUNCTION, "DROP FUNCTION remember_review_places() CASCADE"),
        migrations.RunSQL(TRIGGER, migrations.RunSQL.noop),
    ]
