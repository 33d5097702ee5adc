-- Project a latitude and longitude to a point in metres, in spherical Web Mercator (EPSG:3857).
-- The radius 6378137 is also in catalogue/search/geocoding/distance.py. Called by generated columns, searches and importers.
CREATE OR REPLACE FUNCTION mercator(latitude double precision, longitude double precision) RETURNS point
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN point(6378137 * radians(longitude), 6378137 * ln(tan(pi() / 4 + radians(latitude) / 2)));
