-- Locks every table, refuses a database that has rows (other than those that migrations write) unless it is to be
-- replaced, and drops what is ours. Extensions stay: creating one may need rights that the tables' owner does not have.
-- Begins the transaction of a restore (config/backup/restore.py), which fills in the fields in braces.
BEGIN;
SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL client_min_messages = warning; SET LOCAL tablewire.replace = {replace};
DO $$
DECLARE
    name text;
    statement text;
    has_rows boolean;
BEGIN
    IF NOT pg_try_advisory_xact_lock({advisory_lock}) THEN
        RAISE EXCEPTION 'Another restore into this database is running.';
    END IF;
    FOR name IN
        SELECT relname FROM pg_class
        WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') ORDER BY relname
    LOOP
        EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name);
        CONTINUE WHEN current_setting('tablewire.replace')::boolean OR name IN
            ('auth_group', 'auth_group_permissions', 'auth_permission', 'django_content_type', 'django_migrations');
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', name) INTO has_rows;
        IF has_rows THEN
            RAISE EXCEPTION 'This database is in use: % has rows. Restore into an empty one, or with --replace:'
                ' everything in this one is deleted then.', name;
        END IF;
    END LOOP;
    FOR statement IN
        SELECT format('DROP %s IF EXISTS %s CASCADE', kind, identity)
        FROM (
            SELECT tableoid, oid, CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass::text
            FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'S')
            UNION ALL
            SELECT tableoid, oid, 'ROUTINE', oid::regprocedure::text
            FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
        ) AS found (classid, objid, kind, identity)
        WHERE NOT EXISTS (
            SELECT FROM pg_depend AS d WHERE d.classid = found.classid AND d.objid = found.objid AND d.deptype = 'e'
        )
        -- Tables before their sequences.
        ORDER BY kind DESC
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
