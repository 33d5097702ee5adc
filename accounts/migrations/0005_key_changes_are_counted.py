from django.db import migrations

COUNT = """
CREATE FUNCTION accounts_count_key_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO accounts_keychange AS counted (id, number) VALUES (1, 1)
    ON CONFLICT (id) DO UPDATE SET number = counted.number + 1;
    RETURN NULL;
END $$;

-- Not of last_used_at and last_used_ip, which change all the time.
CREATE TRIGGER api_key_changed
AFTER UPDATE OF venue_id, family, scopes, allowance, expires_at, revoked_at, digest OR DELETE ON accounts_apikey
FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_key_change();

-- A key is remembered together with its venue.
CREATE TRIGGER venue_changed AFTER UPDATE OR DELETE ON accounts_venue
FOR EACH STATEMENT EXECUTE FUNCTION accounts_count_key_change();
"""
FORGET = """
DROP TRIGGER venue_changed ON accounts_venue;
DROP TRIGGER api_key_changed ON accounts_apikey;
DROP FUNCTION accounts_count_key_change;
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0004_outbox_keys_and_rules_of_venues")]

    operations = [migrations.RunSQL(COUNT, FORGET)]
