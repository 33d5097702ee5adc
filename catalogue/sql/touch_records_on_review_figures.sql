-- Set updated_at of a restaurant's record when its review figures change: they make no version, but exports contain them.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION touch_records_on_review_figures() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_record AS held SET updated_at = now()
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
    WHERE held.restaurant_id = new_row.id AND held.updated_at <> now()
        AND (old_row.star_counts, old_row.review_facets) IS DISTINCT FROM (new_row.star_counts, new_row.review_facets);
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER restaurant_figures_touch_record AFTER UPDATE ON catalogue_restaurant
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT
    EXECUTE FUNCTION touch_records_on_review_figures();
