-- Set the account of a new payment: the one that its payer's wallet is linked to. The claim sets it itself if that
-- account has a spending limit, so that a wallet that is unlinked meanwhile is counted.
CREATE OR REPLACE FUNCTION set_payment_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.account_id := (SELECT account_id FROM payments_wallet WHERE address = NEW.payer);
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER payment_account BEFORE INSERT ON payments_payment
    FOR EACH ROW WHEN (NEW.account_id IS NULL) EXECUTE FUNCTION set_payment_account();
