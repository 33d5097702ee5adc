-- Record where a neighborhood was added, moved, renamed or deleted, so that catalogue.places.neighborhoods works out those of the
-- restaurants around it. Called by the triggers below, whoever writes the landmark.
CREATE OR REPLACE FUNCTION record_neighborhood_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.kind, OLD.name, OLD.latitude, OLD.longitude)
        IS NOT DISTINCT FROM (NEW.kind, NEW.name, NEW.latitude, NEW.longitude)
    THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.kind = 'neighborhood' THEN
        INSERT INTO public.catalogue_neighborhoodchange (latitude, longitude) VALUES (OLD.latitude, OLD.longitude);
    END IF;
    IF TG_OP = 'INSERT' OR (TG_OP = 'UPDATE' AND NEW.kind = 'neighborhood' AND (
        OLD.kind, OLD.latitude, OLD.longitude) IS DISTINCT FROM ('neighborhood', NEW.latitude, NEW.longitude)
    ) THEN
        INSERT INTO public.catalogue_neighborhoodchange (latitude, longitude) VALUES (NEW.latitude, NEW.longitude);
    END IF;
    RETURN NULL;
END
$$;

CREATE OR REPLACE TRIGGER record_neighborhood_insert AFTER INSERT ON catalogue_landmark
FOR EACH ROW WHEN (NEW.kind = 'neighborhood') EXECUTE FUNCTION record_neighborhood_change();
CREATE OR REPLACE TRIGGER record_neighborhood_update AFTER UPDATE ON catalogue_landmark
FOR EACH ROW WHEN (OLD.kind = 'neighborhood' OR NEW.kind = 'neighborhood') EXECUTE FUNCTION record_neighborhood_change();
CREATE OR REPLACE TRIGGER record_neighborhood_delete AFTER DELETE ON catalogue_landmark
FOR EACH ROW WHEN (OLD.kind = 'neighborhood') EXECUTE FUNCTION record_neighborhood_change();
