-- Delete the read model of deleted restaurants, after the triggers of their source records may have written it again.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION on_restaurant_delete() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM catalogue_kitchen USING removed WHERE restaurant_id = removed.id;
    DELETE FROM catalogue_searchrow USING removed WHERE restaurant_id = removed.id;
    DELETE FROM catalogue_record USING removed WHERE restaurant_id = removed.id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER restaurants_removed AFTER DELETE ON catalogue_restaurant
    REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION on_restaurant_delete();
