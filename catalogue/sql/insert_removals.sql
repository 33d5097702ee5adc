-- Insert a Removal for each deleted row, which the next delta export lists.
-- Its moment is the start of the transaction: what a transaction that began before a snapshot deletes after it belongs to the
-- next delta. The arguments of the trigger are the dataset and the prefix of its public ids. Called by the triggers below.
CREATE OR REPLACE FUNCTION insert_removals() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO catalogue_removal (dataset, key, at)
    SELECT TG_ARGV[0], public_id(TG_ARGV[1], id), now() FROM deleted_rows;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER restaurant_removals AFTER DELETE ON catalogue_restaurant
    REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION insert_removals('restaurants', 'rst');
CREATE OR REPLACE TRIGGER review_removals AFTER DELETE ON catalogue_review
    REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION insert_removals('reviews', 'rev');
CREATE OR REPLACE TRIGGER photo_removals AFTER DELETE ON catalogue_photo
    REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION insert_removals('photos', 'ph');
CREATE OR REPLACE TRIGGER landmark_removals AFTER DELETE ON catalogue_landmark
    REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION insert_removals('landmarks', 'lm');
