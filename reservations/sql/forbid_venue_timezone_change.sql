-- Reject a change of a venue's time zone while it has pending or confirmed reservations that have not ended.
-- accounts/forms/venue.py translates the violated constraint into a message. Called by the trigger below.
CREATE OR REPLACE FUNCTION forbid_venue_timezone_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM reservations_reservation
        WHERE venue_id = NEW.id AND status IN ('confirmed', 'pending') AND ends_at > now()
    ) THEN
        RAISE EXCEPTION 'venue % has upcoming reservations in its time zone', NEW.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'venue_timezone_unused_by_reservations',
              DETAIL = 'venue_timezone_unused_by_reservations';
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER forbid_venue_timezone_change BEFORE UPDATE OF timezone ON accounts_venue
FOR EACH ROW WHEN (NEW.timezone IS DISTINCT FROM OLD.timezone) EXECUTE FUNCTION forbid_venue_timezone_change();
