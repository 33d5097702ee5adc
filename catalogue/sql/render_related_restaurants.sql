-- Write the read model of restaurants whose source records or insights have changed. Called by the triggers below.
CREATE OR REPLACE FUNCTION render_related_restaurants() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM render_restaurants(ARRAY(SELECT DISTINCT restaurant_id FROM changed_rows));
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER records_added AFTER INSERT ON catalogue_sourcerecord
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION render_related_restaurants();
CREATE OR REPLACE TRIGGER records_changed AFTER UPDATE ON catalogue_sourcerecord
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION render_related_restaurants();
CREATE OR REPLACE TRIGGER records_moved AFTER UPDATE ON catalogue_sourcerecord
    REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION render_related_restaurants();
CREATE OR REPLACE TRIGGER records_removed AFTER DELETE ON catalogue_sourcerecord
    REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION render_related_restaurants();
CREATE OR REPLACE TRIGGER insights_added AFTER INSERT ON catalogue_insight
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION render_related_restaurants();
CREATE OR REPLACE TRIGGER insights_changed AFTER UPDATE ON catalogue_insight
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION render_related_restaurants();
