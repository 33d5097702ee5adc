from django.db import migrations

COUNT = """
CREATE TRIGGER reservations_added AFTER INSERT ON reservations_reservation REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_records('reservation');

CREATE TRIGGER reservations_changed AFTER UPDATE ON reservations_reservation REFERENCING OLD TABLE AS removed NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_records('reservation');

CREATE TRIGGER reservations_removed AFTER DELETE ON reservations_reservation REFERENCING OLD TABLE AS removed
FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_records('reservation');

INSERT INTO accounts_tally (venue_id, noun, status, total)
SELECT venue_id, 'reservation', status, count(*) FROM reservations_reservation GROUP BY venue_id, status;
"""
FORGET = """
DROP TRIGGER reservations_removed ON reservations_reservation;
DROP TRIGGER reservations_changed ON reservations_reservation;
DROP TRIGGER reservations_added ON reservations_reservation;
DELETE FROM accounts_tally WHERE noun = 'reservation';
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0006_records_can_be_counted"), ("reservations", "0002_tables_periods_and_notices")]

    operations = [migrations.RunSQL(COUNT, FORGET)]
