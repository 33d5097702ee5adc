"""What is rendered is never older than what somebody else has rendered: the restaurants are locked first."""

from django.db import migrations

# A statement sees what was committed before it began. Without the lock, one that waits for another's Record would then
# put in its place what it read before.
LOCKED = """
ALTER FUNCTION render_restaurants(uuid[]) RENAME TO render_locked_restaurants;
CREATE FUNCTION render_restaurants(ids uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM catalogue_restaurant WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
    PERFORM render_locked_restaurants(ids);
END
$$
"""
UNLOCKED = """
DROP FUNCTION render_restaurants(uuid[]);
ALTER FUNCTION render_locked_restaurants(uuid[]) RENAME TO render_restaurants
"""


class Migration(migrations.Migration):
    dependencies = [("catalogue", "0013_slots_that_staff_withdrew")]
    operations = [migrations.RunSQL(LOCKED, UNLOCKED)]
