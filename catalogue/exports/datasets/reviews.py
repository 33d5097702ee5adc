"""Reviews, each with the slug of its restaurant."""

from catalogue.exports.datasets.dataset import Column, Dataset

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
    "owner_reply": "object or null",
    "source": "string",
}

DATASET = Dataset(
    key="review.id",
    key_type="uuid",
    rows="catalogue_review AS review JOIN catalogue_restaurant AS restaurant ON restaurant.id = review.restaurant_id",
    matches="""
restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
AND (%(market)s::text IS NULL OR restaurant.market_id = %(market)s)
AND (%(status)s::text IS NULL OR restaurant.status = %(status)s)
AND (%(updated_since)s::timestamptz IS NULL OR review.updated_at >= %(updated_since)s::timestamptz)
""",
    changed="(review.updated_at >= %(since)s::timestamptz OR restaurant.updated_at >= %(since)s::timestamptz)",
    record="""json_build_object(
        'id', public_id('rev', review.id), 'restaurant', restaurant.slug, 'stars', review.stars, 'text', review.text,
        'lang', nullif(review.lang, ''), 'author', review.author, 'visited_on', review.visited_on,
        'created_at', api_moment(review.created_at), 'helpful_count', review.helpful_count,
        'owner_reply', CASE WHEN review.owner_reply IS NOT NULL THEN json_build_object(
            'text', review.owner_reply, 'created_at', api_moment(review.owner_replied_at)) END,
        'source', review.source_id
    )::text""",
    schema=SCHEMA,
    columns=(
        Column("id", "public_id('rev', review.id)", "string"),
        Column("restaurant", "restaurant.slug", "string"),
        Column("stars", "review.stars", "integer"),
        Column("text", "review.text", "string"),
        Column("lang", "nullif(review.lang, '')", "string or null"),
        Column("author", "review.author", "string"),
        Column("visited_on", "review.visited_on", "date or null"),
        Column("created_at", "review.created_at", "timestamp"),
        Column("helpful_count", "review.helpful_count", "integer"),
        Column("owner_reply", "review.owner_reply", "string or null"),
        Column("owner_replied_at", "review.owner_replied_at", "timestamp or null"),
        Column("source", "review.source_id", "string"),
    ),
    sources="ARRAY[review.source_id]",
    versions=("review.xmin", "restaurant.xmin"),
)
