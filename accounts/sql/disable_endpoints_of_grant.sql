-- Disable the webhook endpoints that an app has created when its grant is revoked or deleted, in the same transaction.
-- Those that were disabled before get the reason: it tells whoever enables one that it is the restaurant's then. Every
-- way to end a grant changes one of these two columns (accounts/models/oauth.py: OAuthGrants.revoke). Their pending
-- deliveries fail with the next sweep (accounts/webhooks/delivery_queue.py: fail_abandoned).
CREATE OR REPLACE FUNCTION disable_endpoints_of_grant() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE accounts_webhookendpoint SET disabled_at = coalesce(disabled_at, NEW.revoked_at), disabled_reason = 'app_ended'
    WHERE grant_id = NEW.id AND disabled_reason IS DISTINCT FROM 'app_ended';
    RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER oauth_grant_revoked AFTER UPDATE OF revoked_at ON accounts_oauthgrant
FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL)
EXECUTE FUNCTION disable_endpoints_of_grant();
