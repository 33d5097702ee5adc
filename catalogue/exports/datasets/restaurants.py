"""Restaurants: the core fields, as the database renders them."""

from catalogue.exports.datasets.base import CHANGED_RESTAURANTS, Dataset, select_removed, visible_condition
from catalogue.exports.datasets.fields import Column

# Each field of GET /v1/restaurants/{slug}?fields=core with its type, except those that depend on the time of reading:
# the state of the hours and the flow offer.
SCHEMA = {
    "slug": "string",
    "name": "string",
    "id": "string",
    "alt_names": "array of string",
    "status": "string",
    "market": "string",
    "neighborhood": "string or null",
    "address": "object",
    "location": "object or null",
    "phone": "string or null",
    "phone_verified": "boolean",
    "phone_verified_at": "timestamp or null",
    "website": "string or null",
    "rating": "number or null",
    "review_count": "integer",
    "price_level": "integer or null",
    "cuisine": "string or null",
    "cuisines": "array of string",
    "hours": "object",
    "attributes": "object",
    "external_ids": "object",
    "sources": "array of object",
    "attribution": "array of object",
    "verified_at": "timestamp or null",
    "updated_at": "timestamp",
    "version": "integer",
}
# The formatted address and the sources are only in the rendered record.
BEFORE = "('{' || held.before || '}')::json"
AFTER = "('{' || held.after || '}')::json"
MATCHES = visible_condition("restaurant.updated_at")

DATASET = Dataset(
    key="restaurant.id",
    key_type="uuid",
    rows="""catalogue_restaurant AS restaurant
JOIN catalogue_record AS held ON held.restaurant_id = restaurant.id""",
    matches=MATCHES,
    # The record's timestamp changes with everything it shows, and is the database's; the restaurant's is its writer's.
    changed=f"""held.updated_at >= %(since)s::timestamptz
    OR restaurant.id IN (SELECT restaurant_id FROM ({CHANGED_RESTAURANTS}) AS moved)""",  # noqa: S608  # of constants
    record="""'{' || held.before || ',"hours":{' || held.hours || '},' || held.after || '}'""",
    schema=SCHEMA,
    columns=(
        Column("id", "public_id('rst', restaurant.id)", "string"),
        Column("slug", "restaurant.slug", "string"),
        Column("name", "restaurant.name", "string"),
        Column("alt_names", "restaurant.alt_names", "array of string"),
        Column("status", "restaurant.status", "string"),
        Column("market", "restaurant.market_id", "string"),
        Column("neighborhood", "restaurant.neighborhood", "string or null"),
        Column("address_line1", "restaurant.line1", "string or null"),
        Column("address_locality", "restaurant.locality", "string or null"),
        Column("address_region", "restaurant.region", "string or null"),
        Column("address_postal_code", "restaurant.postal_code", "string or null"),
        Column("address_country", "restaurant.country", "string", "ISO 3166-1 alpha-2."),
        Column("address_formatted", f"{BEFORE} -> 'address' ->> 'formatted'", "string or null", "All in one line."),
        Column("lat", "restaurant.latitude", "number or null", "Degrees."),
        Column("lng", "restaurant.longitude", "number or null", "Degrees."),
        Column("phone", "restaurant.phone", "string or null", "E.164."),
        Column("phone_verified", "restaurant.phone_verified_at IS NOT NULL", "boolean"),
        Column("phone_verified_at", "restaurant.phone_verified_at", "timestamp or null"),
        Column("website", "restaurant.website", "string or null"),
        Column("rating", "restaurant.rating", "number or null", "Stars, 1 to 5."),
        Column("review_count", "restaurant.review_count", "integer"),
        Column("price_level", "restaurant.price_level", "integer or null", "1 to 4."),
        Column("cuisine", f"{BEFORE} ->> 'cuisine'", "string or null", "The label of the main cuisine."),
        Column("cuisines", "restaurant.cuisines", "array of string", "Slugs, the main one first."),
        Column("hours", "'{' || held.hours || '}'", "string", "JSON, as the record has it, without a state."),
        Column("attributes", "restaurant.attributes::text", "string", "JSON."),
        Column("external_ids", "restaurant.external_ids::text", "string", "JSON."),
        Column("sources", f"({AFTER} -> 'sources')::text", "string", "JSON: what each source gave."),
        Column("verified_at", "restaurant.verified_at", "timestamp or null"),
        Column("updated_at", "restaurant.updated_at", "timestamp"),
        Column("version", "restaurant.version", "integer"),
    ),
    sources="held.sources",
    versions=("restaurant.xmin", "held.xmin"),
    removed=select_removed(
        "restaurants",
        f"""SELECT public_id('rst', restaurant.id), moved.at
        FROM ({CHANGED_RESTAURANTS}) AS moved
        JOIN catalogue_restaurant AS restaurant ON restaurant.id = moved.restaurant_id
        WHERE ({MATCHES}) IS NOT TRUE""",  # noqa: S608  # of constants
    ),
)
