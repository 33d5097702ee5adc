-- Mark the insights of these restaurants as outdated, because something that they were written from has changed.
-- The restaurants are locked first. The pipeline holds the same locks while it writes an insight, so an insight is marked
-- either before its input is read or after it is written. Called by the functions mark_insights_outdated_by_*.
CREATE OR REPLACE FUNCTION mark_insights_outdated(places uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF cardinality(places) > 0 THEN
        PERFORM FROM catalogue_restaurant WHERE id = ANY (places) ORDER BY id FOR NO KEY UPDATE;
        UPDATE catalogue_insight SET is_outdated = true WHERE restaurant_id = ANY (places) AND NOT is_outdated;
    END IF;
END
$$;
