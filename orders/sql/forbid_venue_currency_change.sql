-- Reject a change of a venue's currency while its menu has items or modifiers, or it has charges or a price of
-- one USDC: they are in that currency.
-- Locks the menu, so that an item that another transaction is adding is waited for and seen.
-- accounts/dashboard/venue_form.py translates the violated constraint into a message. Called by the trigger below.
CREATE OR REPLACE FUNCTION forbid_venue_currency_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM orders_menu WHERE venue_id = NEW.id FOR UPDATE;
    IF EXISTS (
        SELECT 1 FROM orders_menuitem AS item JOIN orders_menu AS menu ON menu.id = item.menu_id
        WHERE menu.venue_id = NEW.id
        UNION ALL
        SELECT 1 FROM orders_modifier AS modifier JOIN orders_menu AS menu ON menu.id = modifier.menu_id
        WHERE menu.venue_id = NEW.id
        UNION ALL
        SELECT 1 FROM orders_orderingsettings WHERE venue_id = NEW.id AND (takes_usdc OR usdc_price IS NOT NULL)
        UNION ALL
        SELECT 1 FROM orders_chargerule WHERE venue_id = NEW.id AND (amount IS NOT NULL OR free_from IS NOT NULL)
    ) THEN
        RAISE EXCEPTION 'The dishes of venue % are priced in %.', NEW.id, OLD.currency
            USING ERRCODE = 'check_violation', CONSTRAINT = 'venue_keeps_its_currency_while_its_menu_has_dishes';
    END IF;
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER forbid_venue_currency_change BEFORE UPDATE OF currency ON accounts_venue
    FOR EACH ROW WHEN (OLD.currency <> NEW.currency) EXECUTE FUNCTION forbid_venue_currency_change();
