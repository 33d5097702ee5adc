"""Visible photos with the slug of their restaurant: URLs, authors and licences, without the image bytes."""

from catalogue.exports.datasets.base import CHANGED_RESTAURANTS, VISIBLE_RESTAURANT, Column, Dataset, select_removed
from catalogue.exports.datasets.sql_json import json_nullable, json_object, json_plain, json_plain_nullable, json_value
from catalogue.photos import SIZES

SCHEMA = {
    "id": "string",
    "restaurant": "string",
    "url": "string",
    "sizes": "array of object",
    "width": "integer",
    "height": "integer",
    "kind": "string",
    "caption": "string or null",
    "alt": "string",
    "author": "string or null",
    "license": "string",
    "review_id": "string or null",
    "source": "string",
    "attribution": "string",
    "created_at": "timestamp",
}


def photo_url(size: str) -> str:
    """The SQL of the URL of a size."""
    return f"%(photos)s || public_id('ph', photo.id) || '/{size}.webp'"


def scaled_size(size: str) -> tuple[str, str]:
    """The SQL of width and height of a size, as catalogue.photos.thumbnails computes them."""
    width = f"least({SIZES[size]}, photo.width)"
    # Floats are rounded to even, as in Python.
    return width, f"greatest(1, round((photo.height::bigint * {width})::float8 / photo.width))::bigint"


def json_size(name: str) -> str:
    """The SQL of a size as JSON."""
    width, height = scaled_size(name)
    return json_object(
        {"name": f"""'"{name}"'""", "url": json_value(photo_url(name)), "width": width, "height": height}
    )


ATTRIBUTION = "concat_ws(', ', nullif(photo.author, ''), nullif(source.attribution, ''))"
MATCHES = f"""NOT photo.is_hidden AND {VISIBLE_RESTAURANT}
AND (%(updated_since)s::timestamptz IS NULL OR photo.updated_at >= %(updated_since)s::timestamptz)
"""
OTHER_COLUMNS = tuple(
    Column(f"{name}_{what}", sql, kind)
    for name in SIZES
    for what, sql, kind in (
        ("url", photo_url(name), "string"),
        ("width", scaled_size(name)[0], "integer"),
        ("height", scaled_size(name)[1], "integer"),
    )
)

DATASET = Dataset(
    key="photo.id",
    key_type="uuid",
    rows="""catalogue_photo AS photo
JOIN catalogue_restaurant AS restaurant ON restaurant.id = photo.restaurant_id
JOIN catalogue_source AS source ON source.key = photo.source_id""",
    matches=MATCHES,
    changed=f"""photo.updated_at >= %(since)s::timestamptz OR source.updated_at >= %(since)s::timestamptz
    OR restaurant.id IN (SELECT restaurant_id FROM ({CHANGED_RESTAURANTS}) AS moved)""",  # noqa: S608  # of constants
    record=json_object(
        {
            "id": json_plain("public_id('ph', photo.id)"),
            "restaurant": json_plain("restaurant.slug"),
            "url": json_value(photo_url("large")),
            "sizes": " || ".join(["'['", " || ',' || ".join(json_size(name) for name in SIZES), "']'"]),
            "width": "photo.width",
            "height": "photo.height",
            "kind": json_value("photo.kind"),
            "caption": json_nullable("photo.caption"),
            "alt": json_value("photo.alt"),
            "author": json_nullable("photo.author"),
            "license": json_value("photo.license"),
            "review_id": json_plain_nullable("public_id('rev', photo.review_id)"),
            "source": json_value("photo.source_id"),
            "attribution": json_value(ATTRIBUTION),
            "created_at": json_plain("api_timestamp(photo.created_at)"),
        }
    ),
    schema=SCHEMA,
    columns=(
        Column("id", "public_id('ph', photo.id)", "string"),
        Column("restaurant", "restaurant.slug", "string", "Slug of the restaurant."),
        *OTHER_COLUMNS,
        Column("width", "photo.width", "integer", "Of the original, in pixels."),
        Column("height", "photo.height", "integer", "Of the original, in pixels."),
        Column("kind", "photo.kind", "string"),
        Column("caption", "photo.caption", "string or null"),
        Column("alt", "photo.alt", "string", "What is to be seen, for those who do not see it."),
        Column("author", "photo.author", "string or null"),
        Column("license", "photo.license", "string", "SPDX identifier."),
        Column("review_id", "public_id('rev', photo.review_id)", "string or null", "The review that it came with."),
        Column("source", "photo.source_id", "string", "Key of the source; the manifest has its licence."),
        Column("attribution", ATTRIBUTION, "string", "Show this line with it."),
        Column("created_at", "photo.created_at", "timestamp"),
    ),
    sources="ARRAY[photo.source_id]",
    versions=("photo.xmin", "restaurant.xmin", "source.xmin"),
    removed=select_removed(
        "photos",
        f"""SELECT public_id('ph', photo.id), greatest(photo.updated_at, moved.at)
        FROM catalogue_photo AS photo JOIN catalogue_restaurant AS restaurant ON restaurant.id = photo.restaurant_id
        LEFT JOIN ({CHANGED_RESTAURANTS}) AS moved ON moved.restaurant_id = restaurant.id
        WHERE (photo.updated_at >= %(since)s::timestamptz OR moved.at IS NOT NULL)
            AND ({MATCHES}) IS NOT TRUE""",  # noqa: S608  # of constants
    ),
)
