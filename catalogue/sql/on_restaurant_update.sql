-- Write a version (kind and patch), the former slug and the read model of each restaurant whose version has changed.
-- The open intervals are computed again (catalogue/hours/open_intervals.py) where the hours, the status or the place have changed.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION on_restaurant_update() RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    changed uuid[] := ARRAY(
        SELECT new_row.id FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE new_row.version <> old_row.version
    );
BEGIN
    IF cardinality(changed) = 0 THEN
        RETURN NULL;
    END IF;
    DELETE FROM catalogue_formerslug AS former USING new_rows AS new_row
    WHERE former.slug = new_row.slug AND former.restaurant_id = new_row.id;
    PERFORM forbid_former_slugs(ARRAY(
        SELECT new_row.slug FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE new_row.slug <> old_row.slug
    ));
    INSERT INTO catalogue_formerslug (slug, restaurant_id, until)
    SELECT old_row.slug, old_row.id, new_row.updated_at
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id WHERE new_row.slug <> old_row.slug;
    INSERT INTO catalogue_version (restaurant_id, version, at, actor, kind, patch)
    SELECT new_row.id, new_row.version, new_row.updated_at,
        coalesce(nullif(current_setting('tablewire.actor', true), ''), 'system'),
        CASE
            WHEN new_row.erased_at IS NOT NULL AND old_row.erased_at IS NULL THEN 'erased'
            WHEN new_row.merged_into_id IS NOT NULL AND old_row.merged_into_id IS NULL THEN 'merged'
            WHEN new_row.status IN ('permanently_closed', 'moved')
                AND old_row.status NOT IN ('permanently_closed', 'moved') THEN 'closed'
            WHEN old_row.status IN ('permanently_closed', 'moved')
                AND new_row.status NOT IN ('permanently_closed', 'moved') THEN 'reopened'
            WHEN new_row.slug <> old_row.slug OR new_row.name <> old_row.name THEN 'renamed'
            ELSE 'updated'
        END,
        (
            SELECT jsonb_object_agg(key, jsonb_build_array(before.value, after.value))
            FROM jsonb_each(to_jsonb(old_row) - unversioned_columns()) AS before
            JOIN jsonb_each(to_jsonb(new_row) - unversioned_columns()) AS after USING (key)
            WHERE before.value <> after.value
        )
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
    WHERE new_row.version <> old_row.version
    ORDER BY new_row.id;
    UPDATE catalogue_searchrow AS row SET intervals_until = NULL
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
    WHERE row.restaurant_id = new_row.id AND row.intervals_until IS NOT NULL
        AND (old_row.hours, old_row.status, old_row.latitude, old_row.longitude, old_row.market_id)
            IS DISTINCT FROM (new_row.hours, new_row.status, new_row.latitude, new_row.longitude, new_row.market_id);
    PERFORM render_restaurants(changed);
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER restaurants_changed AFTER UPDATE ON catalogue_restaurant
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION on_restaurant_update();
