-- Insert a Removal for each deleted version, like insert_removals. A version has no id of its own: its key is the restaurant's
-- public id and the number of the version. Called by the trigger below.
CREATE OR REPLACE FUNCTION insert_version_removals() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_removal (dataset, key, at)
    SELECT 'history', public_id('rst', restaurant_id) || ':' || version, now() FROM deleted_rows;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER version_removals AFTER DELETE ON catalogue_version
    REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION insert_version_removals();
