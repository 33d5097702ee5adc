-- Mark the insights of restaurants as outdated when the text, stars, language, date or restaurant of a review changes.
-- New reviews do not count here: the pipeline goes by their number.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION mark_insights_outdated_by_reviews() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM mark_insights_outdated(ARRAY(
        SELECT DISTINCT unnest(ARRAY[old_row.restaurant_id, new_row.restaurant_id])
        FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
        WHERE (old_row.restaurant_id, old_row.stars, old_row.text, old_row.lang, old_row.created_at)
            IS DISTINCT FROM (new_row.restaurant_id, new_row.stars, new_row.text, new_row.lang, new_row.created_at)
    ));
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER review_outdates_insights AFTER UPDATE ON catalogue_review
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION mark_insights_outdated_by_reviews();
