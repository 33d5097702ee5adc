-- Mark the insights of restaurants as outdated when reviews are deleted, or rules of offers are added or deleted.
-- Called by the triggers below.
CREATE OR REPLACE FUNCTION mark_insights_outdated_by_rows() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM mark_insights_outdated(ARRAY(SELECT DISTINCT restaurant_id FROM changed_rows));
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER review_delete_outdates_insights AFTER DELETE ON catalogue_review
    REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION mark_insights_outdated_by_rows();
CREATE OR REPLACE TRIGGER flowrule_delete_outdates_insights AFTER DELETE ON catalogue_flowrule
    REFERENCING OLD TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION mark_insights_outdated_by_rows();
CREATE OR REPLACE TRIGGER flowrule_insert_outdates_insights AFTER INSERT ON catalogue_flowrule
    REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION mark_insights_outdated_by_rows();
