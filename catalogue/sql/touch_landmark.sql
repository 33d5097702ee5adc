-- Set updated_at of a landmark when one of its names is added, changed or deleted: exports list the names in its line.
-- Called by the trigger below.
CREATE OR REPLACE FUNCTION touch_landmark() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE catalogue_landmark SET updated_at = now() WHERE id = coalesce(NEW.landmark_id, OLD.landmark_id);
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER touch_landmark AFTER INSERT OR UPDATE OR DELETE ON catalogue_landmarkname
FOR EACH ROW EXECUTE FUNCTION touch_landmark();
