-- Set updated_at to the start of the transaction: delta exports select the rows that changed since the last one by it.
-- Called by the triggers below.
CREATE OR REPLACE FUNCTION set_updated_at() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END
$$;

CREATE OR REPLACE TRIGGER review_updated_at BEFORE UPDATE ON catalogue_review
    FOR EACH ROW EXECUTE FUNCTION set_updated_at();
CREATE OR REPLACE TRIGGER photo_updated_at BEFORE UPDATE ON catalogue_photo
    FOR EACH ROW EXECUTE FUNCTION set_updated_at();
CREATE OR REPLACE TRIGGER landmark_updated_at BEFORE UPDATE ON catalogue_landmark
    FOR EACH ROW EXECUTE FUNCTION set_updated_at();

-- Rows that are also written without a change.
CREATE OR REPLACE TRIGGER cuisine_updated_at BEFORE UPDATE ON catalogue_cuisine
    FOR EACH ROW WHEN (old.* IS DISTINCT FROM new.*) EXECUTE FUNCTION set_updated_at();
CREATE OR REPLACE TRIGGER source_updated_at BEFORE UPDATE ON catalogue_source
    FOR EACH ROW WHEN (old.* IS DISTINCT FROM new.*) EXECUTE FUNCTION set_updated_at();
CREATE OR REPLACE TRIGGER insight_updated_at BEFORE UPDATE ON catalogue_insight
    FOR EACH ROW WHEN (old.* IS DISTINCT FROM new.*) EXECUTE FUNCTION set_updated_at();
CREATE OR REPLACE TRIGGER record_updated_at BEFORE UPDATE ON catalogue_record
    FOR EACH ROW WHEN (old.* IS DISTINCT FROM new.*) EXECUTE FUNCTION set_updated_at();
-- seq, the place in the feed, is set later and is no change.
CREATE OR REPLACE TRIGGER version_updated_at BEFORE UPDATE ON catalogue_version
    FOR EACH ROW WHEN (
        OLD.restaurant_id IS DISTINCT FROM NEW.restaurant_id
        OR OLD.version IS DISTINCT FROM NEW.version
        OR OLD.at IS DISTINCT FROM NEW.at
        OR OLD.actor IS DISTINCT FROM NEW.actor
        OR OLD.kind IS DISTINCT FROM NEW.kind
        OR OLD.patch IS DISTINCT FROM NEW.patch
    ) EXECUTE FUNCTION set_updated_at();
