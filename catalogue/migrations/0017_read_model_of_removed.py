"""Who is deleted leaves the read model at last, whatever its source records had rendered as they went before it."""

from django.db import migrations

REMOVED = """
CREATE FUNCTION restaurants_removed() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM catalogue_kitchen USING removed WHERE restaurant_id = removed.id;
    DELETE FROM catalogue_searchrow USING removed WHERE restaurant_id = removed.id;
    DELETE FROM catalogue_record USING removed WHERE restaurant_id = removed.id;
    RETURN NULL;
END
$$;
CREATE TRIGGER restaurants_removed AFTER DELETE ON catalogue_restaurant
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION restaurants_removed();
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0016_hours_that_cannot_be_read")]
    operations = [migrations.RunSQL(REMOVED, "DROP FUNCTION restaurants_removed CASCADE")]
