"""Each move of a payment is an event, in the transaction of the move; an event never changes."""

from django.db import migrations

EVENTS = """
CREATE FUNCTION payments_write_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    line payments_payment := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
BEGIN
    INSERT INTO payments_paymentevent
        (payment_id, at, before, after, attempt, payer, amount_usdc, tx_hash, error, actor)
    VALUES (
        line.id,
        clock_timestamp(),
        CASE WHEN TG_OP = 'INSERT' THEN '' ELSE OLD.state END,
        CASE WHEN TG_OP = 'DELETE' THEN '' ELSE NEW.state END,
        line.attempts,
        line.payer,
        line.amount_usdc,
        coalesce(line.tx_hash, ''),
        line.error,
        coalesce(nullif(current_setting('tablewire.actor', true), ''), 'system')
    );
    RETURN NULL;
END
$$;

CREATE TRIGGER payments_enter AFTER INSERT OR DELETE ON payments_payment
    FOR EACH ROW EXECUTE FUNCTION payments_write_event();
CREATE TRIGGER payments_move AFTER UPDATE ON payments_payment
    FOR EACH ROW
    WHEN ((OLD.state, OLD.attempts, OLD.purchase) IS DISTINCT FROM (NEW.state, NEW.attempts, NEW.purchase))
    EXECUTE FUNCTION payments_write_event();

CREATE FUNCTION payments_events_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND NOT EXISTS (SELECT FROM payments_payment WHERE id = OLD.payment_id) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'events of payments are never changed' USING ERRCODE = 'check_violation';
END
$$;

CREATE TRIGGER payments_events_stay BEFORE UPDATE OR DELETE ON payments_paymentevent
    FOR EACH ROW EXECUTE FUNCTION payments_events_stay();
"""
UNDO = """
DROP TRIGGER payments_events_stay ON payments_paymentevent;
DROP FUNCTION payments_events_stay();
DROP TRIGGER payments_move ON payments_payment;
DROP TRIGGER payments_enter ON payments_payment;
DROP FUNCTION payments_write_event();
"""


class Migration(migrations.Migration):
    dependencies = [("payments", "0006_refunds_are_rows")]

    operations = [migrations.RunSQL(EVENTS, UNDO)]
