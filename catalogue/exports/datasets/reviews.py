"""Reviews with the slug of their restaurant, as a list of reviews shows them."""

from catalogue.exports.datasets.base import CHANGED_RESTAURANTS, Dataset, select_removed, visible_condition
from catalogue.exports.datasets.fields import Column, Field, describe_rows, json_object, json_plain, json_value, value

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
MATCHES = visible_condition("review.updated_at")

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
    **describe_rows(
        *value("id", "public_id('rev', review.id)", "string", is_plain=True),
        *value("restaurant", "restaurant.slug", "string", "Slug of the restaurant.", is_plain=True),
        *value("stars", "review.stars", "integer", "1 to 5; halves are rounded up."),
        *value("rating", "coalesce(review.rating, review.stars)", "number", "The exact stars: 3.5 of 4."),
        *value("text", "review.text", "string", "Empty where stars alone were given."),
        *value("lang", "nullif(review.lang, '')", "string or null", "ISO 639-1."),
        *value("author", "review.author", "string"),
        *value("visited_on", "review.visited_on", "date or null"),
        *value("created_at", "review.created_at", "timestamp"),
        *value("helpful_count", "review.helpful_count", "integer"),
        Field("photos", PHOTOS, "array of object"),
        Column("photo_count", "review.photo_count", "integer", "Photos that came with it; see the dataset photos."),
        Field("owner_reply", f"CASE WHEN review.owner_reply IS NULL THEN 'null' ELSE {REPLY} END", "object or null"),
        Column("owner_reply", "review.owner_reply", "string or null"),
        Column("owner_replied_at", "review.owner_replied_at", "timestamp or null"),
        *value("source", "review.source_id", "string", "Key of the source; the manifest has its licence."),
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
