-- Insert a PaymentEvent when a payment is inserted, deleted or changes its state, in the same transaction.
-- An update of the attempts, purchase, amount, transaction hash or error writes an event too, even if the state stays.
-- The actor is the setting tablewire.actor of the transaction, or "system". Called by the triggers below.
CREATE OR REPLACE FUNCTION insert_payment_event() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE TRIGGER payment_inserted_or_deleted AFTER INSERT OR DELETE ON payments_payment
    FOR EACH ROW EXECUTE FUNCTION insert_payment_event();
CREATE OR REPLACE TRIGGER payment_updated AFTER UPDATE ON payments_payment
    FOR EACH ROW
    WHEN (
        OLD.state IS DISTINCT FROM NEW.state
        OR OLD.attempts IS DISTINCT FROM NEW.attempts
        OR OLD.purchase IS DISTINCT FROM NEW.purchase
        OR OLD.amount_usdc IS DISTINCT FROM NEW.amount_usdc
        OR OLD.tx_hash IS DISTINCT FROM NEW.tx_hash
        OR OLD.error IS DISTINCT FROM NEW.error
    )
    EXECUTE FUNCTION insert_payment_event();
