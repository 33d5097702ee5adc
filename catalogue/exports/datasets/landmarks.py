"""Landmarks with all their names, as GET /v1/landmarks lists them."""

from catalogue.exports.datasets.base import Dataset, select_removed, updated_condition
from catalogue.exports.datasets.fields import Column, Field, describe_rows, json_object, json_value, value

LAT, LNG = "landmark.latitude", "landmark.longitude"
NAMES = """ARRAY(
    SELECT named.name FROM catalogue_landmarkname AS named WHERE named.landmark_id = landmark.id ORDER BY named.name
)"""
MATCHES = f"""(%(market)s::text IS NULL OR landmark.market_id = %(market)s)
AND {updated_condition("landmark.updated_at")}"""

DATASET = Dataset(
    key="landmark.id",
    key_type="uuid",
    rows="catalogue_landmark AS landmark",
    matches=MATCHES,
    changed="landmark.updated_at >= %(since)s::timestamptz",
    **describe_rows(
        *value("id", "public_id('lm', landmark.id)", "string", is_plain=True),
        *value("name", "landmark.name", "string"),
        *value("kind", "landmark.kind", "string"),
        *value("market", "landmark.market_id", "string or null"),
        Field("location", json_object({"lat": json_value(LAT), "lng": json_value(LNG)}), "object"),
        Column("lat", LAT, "number", "Degrees."),
        Column("lng", LNG, "number", "Degrees."),
        *value("names", NAMES, "array of string", "All names that it is found by."),
        *value("wikidata", "landmark.wikidata", "string or null"),
        # An export has no point of reference.
        Field("distance_m", "'null'", "integer or null"),
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
