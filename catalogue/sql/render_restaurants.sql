-- Lock these restaurants and write their read model.
-- The lock comes first because a statement sees what was committed before it began: without it, a transaction that waits for
-- another one's row would overwrite it with older data.
-- Called by the triggers of restaurants, source records and insights, and by catalogue/read_model/rebuild.py.
CREATE OR REPLACE FUNCTION render_restaurants(ids uuid[]) RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM FROM catalogue_restaurant WHERE id = ANY (ids) ORDER BY id FOR NO KEY UPDATE;
    PERFORM render_locked_restaurants(ids);
END
$$;
