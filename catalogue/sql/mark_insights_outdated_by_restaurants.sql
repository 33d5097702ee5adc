-- Mark the insights of restaurants as outdated when their hours change. A new name changes no statement.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION mark_insights_outdated_by_restaurants() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM mark_insights_outdated(ARRAY(
        SELECT DISTINCT unnest(ARRAY[old_row.id, new_row.id])
        FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE (old_row.hours) IS DISTINCT FROM (new_row.hours)
    ));
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER restaurant_outdates_insights AFTER UPDATE ON catalogue_restaurant
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION mark_insights_outdated_by_restaurants();
