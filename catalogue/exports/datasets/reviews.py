"""Reviews with the slug of their restaurant, as a list of reviews shows them."""

from catalogue.exports.datasets.base import CHANGED_RESTAURANTS, VISIBLE_RESTAURANT, Column, Dataset, select_removed
from catalogue.exports.datasets.sql_json import json_nullable, json_object, json_plain, json_plain_nullable, json_value

SCHEMA = {
    "id": "string",
    "restaurant": "string",
    "stars": "integer",
    "text": "string",
    "lang": "string or null",
    "author": "string",
    "visited_on": "date or null",
    "created_at": "timestamp",
    "helpful_count": "integer",
    "photos": "array of object",
    "owner_reply": "object or null",
    "source": "string",
}

PHOTO = json_object(
    {
        "id": json_plain("public_id('ph', photo.id)"),
        "url": json_value("%(photos)s || public_id('ph', photo.id) || '/large.webp'"),
        "small_url": json_value("%(photos)s || public_id('ph', photo.id) || '/small.webp'"),
    }
)
SHOWN = "FROM catalogue_photo AS photo WHERE photo.review_id = review.id AND NOT photo.is_hidden"
# One review in fifty has photos; the others need no lookup.
PHOTOS = f"""CASE WHEN review.photo_count > 0 THEN
    coalesce((SELECT '[' || string_agg({PHOTO}, ',' ORDER BY photo.created_at, photo.id) || ']' {SHOWN}), '[]')
ELSE '[]' END"""
REPLY = json_object(
    {"text": json_value("review.owner_reply"), "created_at": json_plain("api_timestamp(review.owner_replied_at)")}
)
MATCHES = f"""{VISIBLE_RESTAURANT}
AND (%(updated_since)s::timestamptz IS NULL OR review.updated_at >= %(updated_since)s::timestamptz)
"""

DATASET = Dataset(
    key="review.id",
    key_type="uuid",
    rows="catalogue_review AS review JOIN catalogue_restaurant AS restaurant ON restaurant.id = review.restaurant_id",
    matches=MATCHES,
    # Each branch uses an index; an OR would read all reviews.
    changed=f"""review.id IN (
    SELECT id FROM catalogue_review WHERE updated_at >= %(since)s::timestamptz
    UNION ALL SELECT changed.id FROM ({CHANGED_RESTAURANTS}) AS moved
    JOIN catalogue_review AS changed USING (restaurant_id)
    UNION ALL SELECT review_id FROM catalogue_photo
    WHERE review_id IS NOT NULL AND updated_at >= %(since)s::timestamptz
)""",  # noqa: S608  # of constants
    record=json_object(
        {
            "id": json_plain("public_id('rev', review.id)"),
            "restaurant": json_plain("restaurant.slug"),
            "stars": "review.stars",
            "text": json_value("review.text"),
            "lang": json_nullable("nullif(review.lang, '')"),
            "author": json_value("review.author"),
            "visited_on": json_plain_nullable("review.visited_on"),
            "created_at": json_plain("api_timestamp(review.created_at)"),
            "helpful_count": "review.helpful_count",
            "photos": PHOTOS,
            "owner_reply": f"CASE WHEN review.owner_reply IS NULL THEN 'null' ELSE {REPLY} END",
            "source": json_value("review.source_id"),
        }
    ),
    schema=SCHEMA,
    columns=(
        Column("id", "public_id('rev', review.id)", "string"),
        Column("restaurant", "restaurant.slug", "string", "Slug of the restaurant."),
        Column("stars", "review.stars", "integer", "1 to 5."),
        Column("text", "review.text", "string", "Empty where stars alone were given."),
        Column("lang", "nullif(review.lang, '')", "string or null", "ISO 639-1."),
        Column("author", "review.author", "string"),
        Column("visited_on", "review.visited_on", "date or null"),
        Column("created_at", "review.created_at", "timestamp"),
        Column("helpful_count", "review.helpful_count", "integer"),
        Column("photo_count", "review.photo_count", "integer", "Photos that came with it; see the dataset photos."),
        Column("owner_reply", "review.owner_reply", "string or null"),
        Column("owner_replied_at", "review.owner_replied_at", "timestamp or null"),
        Column("source", "review.source_id", "string", "Key of the source; the manifest has its licence."),
    ),
    sources="ARRAY[review.source_id]",
    versions=(
        "review.xmin",
        "restaurant.xmin",
        f"CASE WHEN review.photo_count > 0 THEN (SELECT photo.xmin {SHOWN} ORDER BY age(photo.xmin) LIMIT 1) END",
    ),
    removed=select_removed(
        "reviews",
        f"""SELECT public_id('rev', review.id), review.updated_at
        FROM catalogue_review AS review JOIN catalogue_restaurant AS restaurant ON restaurant.id = review.restaurant_id
        WHERE review.updated_at >= %(since)s::timestamptz AND ({MATCHES}) IS NOT TRUE""",  # noqa: S608  # of constants
        f"""SELECT public_id('rev', review.id), moved.at
        FROM ({CHANGED_RESTAURANTS}) AS moved JOIN catalogue_review AS review USING (restaurant_id)
        JOIN catalogue_restaurant AS restaurant ON restaurant.id = review.restaurant_id
        WHERE ({MATCHES}) IS NOT TRUE""",  # noqa: S608  # of constants
    ),
)
