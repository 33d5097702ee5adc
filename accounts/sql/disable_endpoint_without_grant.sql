-- Disable the webhook endpoint that an app has created when its grant is deleted, with its user for example: Django sets
-- the column to NULL before. One that was disabled before gets the reason. Whoever enables an endpoint without the grant
-- changes disabled_at with it.
CREATE OR REPLACE FUNCTION disable_endpoint_without_grant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.disabled_at := coalesce(NEW.disabled_at, clock_timestamp());
    NEW.disabled_reason := 'app_ended';
    RETURN NEW;
END $$;

CREATE OR REPLACE TRIGGER webhook_endpoint_lost_grant BEFORE UPDATE OF grant_id ON accounts_webhookendpoint
FOR EACH ROW WHEN (OLD.grant_id IS NOT NULL AND NEW.grant_id IS NULL AND NEW.disabled_at IS NOT DISTINCT FROM OLD.disabled_at)
EXECUTE FUNCTION disable_endpoint_without_grant();
