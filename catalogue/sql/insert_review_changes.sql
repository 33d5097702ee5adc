-- Store the sort keys that reviews had before an update (catalogue_reviewchange), so that a walk through pages keeps its
-- position (catalogue/reviews/listing.py). Called by the trigger below.
CREATE OR REPLACE FUNCTION insert_review_changes() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_reviewchange
        (restaurant, review, stars, length, helpful_count, photo_count, transaction, at)
    SELECT old_row.restaurant_id, old_row.id, old_row.stars, char_length(old_row.text), old_row.helpful_count,
        old_row.photo_count, pg_current_xact_id()::text::bigint, clock_timestamp()
    FROM old_rows AS old_row JOIN new_rows AS new_row ON new_row.id = old_row.id
    WHERE (old_row.stars, char_length(old_row.text), old_row.helpful_count, old_row.photo_count)
        <> (new_row.stars, char_length(new_row.text), new_row.helpful_count, new_row.photo_count);
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER reviews_changed AFTER UPDATE ON catalogue_review
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION insert_review_changes();
