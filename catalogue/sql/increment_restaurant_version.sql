-- Increment the version of a restaurant and set updated_at when a versioned column changes.
-- updated_at never goes back, although a transaction that began earlier may write later. Called by the trigger below.
CREATE OR REPLACE FUNCTION increment_restaurant_version() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF to_jsonb(new) - unversioned_columns() = to_jsonb(old) - unversioned_columns() THEN
        new.version := old.version;
        new.updated_at := old.updated_at;
    ELSE
        new.version := old.version + 1;
        IF new.updated_at = old.updated_at THEN
            new.updated_at := statement_timestamp();
        END IF;
        new.updated_at := greatest(old.updated_at, new.updated_at);
    END IF;
    RETURN new;
END
$$;

CREATE OR REPLACE TRIGGER increment_restaurant_version BEFORE UPDATE ON catalogue_restaurant
    FOR EACH ROW EXECUTE FUNCTION increment_restaurant_version();
