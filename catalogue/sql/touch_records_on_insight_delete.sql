-- Set updated_at of a restaurant's record when its insight is deleted, because the insight's own updated_at is gone with it.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION touch_records_on_insight_delete() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_record AS held SET updated_at = now()
    FROM deleted_rows WHERE held.restaurant_id = deleted_rows.restaurant_id;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER insight_delete_touches_record AFTER DELETE ON catalogue_insight
    REFERENCING OLD TABLE AS deleted_rows FOR EACH STATEMENT EXECUTE FUNCTION touch_records_on_insight_delete();
