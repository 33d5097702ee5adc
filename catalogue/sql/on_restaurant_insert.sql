-- Write the first version of each new restaurant and its read model. Called by the trigger below.
CREATE OR REPLACE FUNCTION on_restaurant_insert() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM forbid_former_slugs(ARRAY(SELECT slug FROM added));
    INSERT INTO catalogue_version (restaurant_id, version, at, actor, kind, patch)
    SELECT id, version, created_at, coalesce(nullif(current_setting('tablewire.actor', true), ''), 'system'),
        'created', '{}'
    FROM added ORDER BY id;
    PERFORM render_restaurants(ARRAY(SELECT id FROM added));
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER restaurants_added AFTER INSERT ON catalogue_restaurant
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION on_restaurant_insert();
