-- Compares the number of rows of each table with the manifest of a backup (config/backup/restore.py).
SET search_path = {schema};
SET LOCAL tablewire.row_counts = {row_counts};
DO $$
DECLARE
    name text;
    expected bigint;
    found bigint;
BEGIN
    FOR name, expected IN SELECT * FROM jsonb_each_text(current_setting('tablewire.row_counts')::jsonb) LOOP
        EXECUTE format('SELECT count(*) FROM %I', name) INTO found;
        IF found <> expected THEN
            RAISE EXCEPTION '% has % rows, and the backup says %.', name, found, expected;
        END IF;
    END LOOP;
END $$;
-- Transaction ids mean nothing on another server: parts of running exports are written again, and cursors on lists of
-- reviews from before the restore start over.
UPDATE catalogue_exportpart SET horizon = NULL
WHERE export_id IN (SELECT id FROM catalogue_export WHERE status = 'running');
DELETE FROM catalogue_reviewchange;
