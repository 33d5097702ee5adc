-- The planner runs a function that it cannot inline in parallel workers, but not an inlined one.
CREATE FUNCTION pg_temp.render(r catalogue_restaurant) RETURNS {table}
LANGUAGE plpgsql STABLE PARALLEL SAFE
AS $function$
DECLARE
    row {table};
BEGIN
    SELECT {values} INTO {fields} FROM {source};
    RETURN row;
END
$function$
