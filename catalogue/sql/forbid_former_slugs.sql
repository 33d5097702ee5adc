-- Reject slugs that other restaurants once had, so that an old link never leads to another restaurant.
-- Called by on_restaurant_insert and on_restaurant_update.
CREATE OR REPLACE FUNCTION forbid_former_slugs(wanted varchar[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF EXISTS (SELECT FROM catalogue_formerslug WHERE slug = ANY (wanted)) THEN
        RAISE unique_violation USING MESSAGE = 'The slug still leads to another restaurant.',
            CONSTRAINT = 'a_former_slug_stays_with_its_restaurant';
    END IF;
END
$$;
