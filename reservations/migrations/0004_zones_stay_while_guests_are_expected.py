from django.db import migrations

KEEP = """
CREATE FUNCTION reservations_venue_keeps_its_zone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM reservations_reservation
        WHERE venue_id = NEW.id AND status IN ('confirmed', 'pending') AND ends_at > now()
    ) THEN
        RAISE EXCEPTION 'guests are expected by the clock of venue %', NEW.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'venue_keeps_its_zone_while_guests_are_expected',
              DETAIL = 'venue_keeps_its_zone_while_guests_are_expected';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER reservations_keep_the_zone BEFORE UPDATE OF timezone ON accounts_venue
FOR EACH ROW WHEN (NEW.timezone IS DISTINCT FROM OLD.timezone) EXECUTE FUNCTION reservations_venue_keeps_its_zone();
"""
FORGET = """
DROP TRIGGER reservations_keep_the_zone ON accounts_venue;
DROP FUNCTION reservations_venue_keeps_its_zone();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0008_webhooks_are_found_by_endpoint"),
        ("reservations", "0003_reservations_are_counted"),
    ]

    operations = [migrations.RunSQL(KEEP, FORGET)]
