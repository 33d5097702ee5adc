from django.db import migrations

# The menu's row is held, so that a dish which is being added is waited for, and seen.
STAYS = """
CREATE FUNCTION venue_keeps_its_currency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM orders_menu WHERE venue_id = NEW.id FOR UPDATE;
    IF EXISTS (
        SELECT 1 FROM orders_menuitem AS item JOIN orders_menu AS menu ON menu.id = item.menu_id
        WHERE menu.venue_id = NEW.id
    ) THEN
        RAISE EXCEPTION 'The dishes of venue % are priced in %.', NEW.id, OLD.currency
            USING ERRCODE = 'check_violation', CONSTRAINT = 'venue_keeps_its_currency_while_its_menu_has_dishes';
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER venue_keeps_its_currency BEFORE UPDATE OF currency ON accounts_venue
    FOR EACH ROW WHEN (OLD.currency <> NEW.currency) EXECUTE FUNCTION venue_keeps_its_currency();
"""
MAY_CHANGE = """
DROP TRIGGER venue_keeps_its_currency ON accounts_venue;
DROP FUNCTION venue_keeps_its_currency();
"""


class Migration(migrations.Migration):
    dependencies = [("orders", "0006_trigrams"), ("accounts", "0008_webhooks_are_found_by_endpoint")]

    operations = [migrations.RunSQL(STAYS, MAY_CHANGE)]
