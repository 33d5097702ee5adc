-- Mark the insights of restaurants as outdated when a rule of their offers changes.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION mark_insights_outdated_by_flow_rules() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM mark_insights_outdated(ARRAY(
        SELECT DISTINCT unnest(ARRAY[old_row.restaurant_id, new_row.restaurant_id])
        FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE (old_row.restaurant_id, old_row.weekdays, old_row.time, old_row.percent, old_row.active)
            IS DISTINCT FROM (new_row.restaurant_id, new_row.weekdays, new_row.time, new_row.percent, new_row.active)
    ));
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER flowrule_outdates_insights AFTER UPDATE ON catalogue_flowrule
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION mark_insights_outdated_by_flow_rules();
