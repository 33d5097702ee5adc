from django.db import migrations

# Rows are taken in one order, always with one statement, lest two moves of records wait for each other.
COUNT = """
CREATE FUNCTION accounts_count_records() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO accounts_tally AS counted (venue_id, noun, status, total)
        SELECT venue_id, TG_ARGV[0], status, count(*) FROM added GROUP BY venue_id, status ORDER BY venue_id, status
        ON CONFLICT (venue_id, noun, status) DO UPDATE SET total = counted.total + excluded.total;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO accounts_tally AS counted (venue_id, noun, status, total)
        SELECT venue_id, TG_ARGV[0], status, -count(*) FROM removed GROUP BY venue_id, status ORDER BY venue_id, status
        ON CONFLICT (venue_id, noun, status) DO UPDATE SET total = counted.total + excluded.total;
    ELSE
        INSERT INTO accounts_tally AS counted (venue_id, noun, status, total)
        SELECT venue_id, TG_ARGV[0], status, sum(change)
        FROM (
            SELECT venue_id, status, 1 AS change FROM added
            UNION ALL SELECT venue_id, status, -1 FROM removed
        ) AS changes
        GROUP BY venue_id, status HAVING sum(change) <> 0 ORDER BY venue_id, status
        ON CONFLICT (venue_id, noun, status) DO UPDATE SET total = counted.total + excluded.total;
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0005_key_changes_are_counted")]

    operations = [migrations.RunSQL(COUNT, "DROP FUNCTION accounts_count_records")]
