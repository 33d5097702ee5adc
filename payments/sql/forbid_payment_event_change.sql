-- Reject each update of a payment event, and each deletion unless its payment is deleted too.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION forbid_payment_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM payments_payment WHERE id = OLD.payment_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events of payments are never changed' USING ERRCODE = 'check_violation';
END
$$;

CREATE OR REPLACE TRIGGER forbid_payment_event_change BEFORE UPDATE OR DELETE ON payments_paymentevent
    FOR EACH ROW EXECUTE FUNCTION forbid_payment_event_change();
