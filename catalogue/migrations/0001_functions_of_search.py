"""The extensions and the SQL functions that the catalogue's generated columns and indexes stand on."""

from django.contrib.postgres.operations import CreateExtension, TrigramExtension, UnaccentExtension
from django.db import migrations

# Spherical Web Mercator (EPSG:3857) has this radius; catalogue.geo states the same number for Python.
MERCATOR = """
CREATE FUNCTION mercator(latitude double precision, longitude double precision) RETURNS point
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN point(6378137 * radians(longitude), 6378137 * ln(tan(pi() / 4 + radians(latitude) / 2)))
"""

# People write "kings cross": apostrophes go, the curly ones after unaccent() has made them straight.
# unaccent() is only STABLE, as its dictionary might be edited; an index needs the promise that it is not.
FOLD = """
CREATE FUNCTION fold(words text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
AS $$ SELECT replace(lower(public.unaccent('public.unaccent', words)), '''', '') $$
"""

DOCUMENT = """
CREATE FUNCTION restaurant_document(name text, alt_names text[], cuisines text[], neighborhood text) RETURNS tsvector
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
    SELECT setweight(to_tsvector('pg_catalog.simple', public.fold(name || ' ' || array_to_string(alt_names, ' '))), 'A')
        || setweight(to_tsvector('pg_catalog.simple', public.fold(array_to_string(cuisines, ' '))), 'B')
        || setweight(to_tsvector('pg_catalog.simple', public.fold(coalesce(neighborhood, ''))), 'C')
$$
"""


class Migration(migrations.Migration):
    dependencies = []
    operations = [
        TrigramExtension(),
        CreateExtension("fuzzystrmatch"),
        UnaccentExtension(),
        migrations.RunSQL(MERCATOR, "DROP FUNCTION mercator(double precision, double precision)"),
        migrations.RunSQL(FOLD, "DROP FUNCTION fold(text)"),
        migrations.RunSQL(DOCUMENT, "DROP FUNCTION restaurant_document(text, text[], text[], text)"),
    ]
