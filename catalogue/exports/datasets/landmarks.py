"""Landmarks with all their names, as GET /v1/landmarks lists them."""

from catalogue.exports.datasets.base import Column, Dataset, select_removed
from catalogue.exports.datasets.sql_json import json_nullable, json_object, json_plain, json_value

SCHEMA = {
    "id": "string",
    "name": "string",
    "kind": "string",
    "market": "string or null",
    "location": "object",
    "names": "array of string",
    "wikidata": "string or null",
    "distance_m": "integer or null",
}

NAMES = """ARRAY(
    SELECT named.name FROM catalogue_landmarkname AS named WHERE named.landmark_id = landmark.id ORDER BY named.name
)"""
MATCHES = """(%(market)s::text IS NULL OR landmark.market_id = %(market)s)
AND (%(updated_since)s::timestamptz IS NULL OR landmark.updated_at >= %(updated_since)s::timestamptz)
"""

DATASET = Dataset(
    key="landmark.id",
    key_type="uuid",
    rows="catalogue_landmark AS landmark",
    matches=MATCHES,
    changed="landmark.updated_at >= %(since)s::timestamptz",
    record=json_object(
        {
            "id": json_plain("public_id('lm', landmark.id)"),
            "name": json_value("landmark.name"),
            "kind": json_value("landmark.kind"),
            "market": json_nullable("landmark.market_id"),
            "location": json_object({"lat": json_value("landmark.latitude"), "lng": json_value("landmark.longitude")}),
            "names": json_value(NAMES),
            "wikidata": json_nullable("landmark.wikidata"),
            # An export has no point of reference.
            "distance_m": "'null'",
        }
    ),
    schema=SCHEMA,
    columns=(
        Column("id", "public_id('lm', landmark.id)", "string"),
        Column("name", "landmark.name", "string"),
        Column("kind", "landmark.kind", "string"),
        Column("market", "landmark.market_id", "string or null"),
        Column("lat", "landmark.latitude", "number", "Degrees."),
        Column("lng", "landmark.longitude", "number", "Degrees."),
        Column("names", NAMES, "array of string", "All names that it is found by."),
        Column("wikidata", "landmark.wikidata", "string or null"),
        Column("source", "landmark.source_id", "string", "Key of the source; the manifest has its licence."),
    ),
    sources="ARRAY[landmark.source_id]",
    versions=("landmark.xmin",),
    removed=select_removed(
        "landmarks",
        f"""SELECT public_id('lm', landmark.id), landmark.updated_at FROM catalogue_landmark AS landmark
        WHERE landmark.updated_at >= %(since)s::timestamptz AND ({MATCHES}) IS NOT TRUE""",  # noqa: S608  # of constants
    ),
    filters=("market", "updated_since"),
)
