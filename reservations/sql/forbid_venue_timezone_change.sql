-- Reject a change of a venue's time zone while it has pending or confirmed reservations that have not ended.
-- accounts/dashboard/venue_form.py translates the violated constraint into a message. Called by the trigger below.
CREATE OR REPLACE FUNCTION forbid_venue_timezone_change() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE TRIGGER forbid_venue_timezone_change BEFORE UPDATE OF timezone ON accounts_venue
FOR EACH ROW WHEN (NEW.timezone IS DISTINCT FROM OLD.timezone) EXECUTE FUNCTION forbid_venue_timezone_change();
