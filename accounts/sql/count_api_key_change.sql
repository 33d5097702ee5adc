-- Increment the number of accounts_apikeychangecounter when an API key or its venue changes.
-- Processes cache API keys together with their venues and drop them when the number rises (accounts/models/api_keys.py: ApiKeyChangeCounter).
-- Called by the triggers below.
CREATE OR REPLACE FUNCTION count_api_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts_apikeychangecounter AS counted (id, number) VALUES (1, 1)
    ON CONFLICT (id) DO UPDATE SET number = counted.number + 1;
    RETURN NULL;
END $$;

-- Without last_used_at and last_used_ip, which change with almost every call.
CREATE OR REPLACE TRIGGER api_key_changed
AFTER UPDATE OF venue_id, family, scopes, allowance, expires_at, revoked_at, digest OR DELETE ON accounts_apikey
FOR EACH STATEMENT EXECUTE FUNCTION count_api_key_change();

-- The cached key includes its venue.
CREATE OR REPLACE TRIGGER venue_changed AFTER UPDATE OR DELETE ON accounts_venue
FOR EACH STATEMENT EXECUTE FUNCTION count_api_key_change();
