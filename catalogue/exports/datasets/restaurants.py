"""Restaurants: the free fields, as the database has rendered them."""

from catalogue.exports.datasets.dataset import Column, Dataset

# Each field of GET /v1/restaurants/{slug}?fields=core with its type, but for what depends on the moment of reading:
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

DATASET = Dataset(
    key="restaurant.id",
    key_type="uuid",
    rows="catalogue_restaurant AS restaurant JOIN catalogue_record AS held ON held.restaurant_id = restaurant.id",
    matches="""
restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
AND (%(market)s::text IS NULL OR restaurant.market_id = %(market)s)
AND (%(status)s::text IS NULL OR restaurant.status = %(status)s)
AND (%(updated_since)s::timestamptz IS NULL OR restaurant.updated_at >= %(updated_since)s::timestamptz)
""",
    changed="restaurant.updated_at >= %(since)s::timestamptz",
    record="""'{' || held.before || ',"hours":{' || held.hours || '},' || held.after || '}'""",
    schema=SCHEMA,
    columns=(
        Column("id", "public_id('rst', restaurant.id)", "string"),
        Column("slug", "restaurant.slug", "string"),
        Column("name", "restaurant.name", "string"),
        Column("market", "restaurant.market_id", "string"),
        Column("status", "restaurant.status", "string"),
    ),
    sources="held.sources",
    versions=("restaurant.xmin", "held.xmin"),
)
