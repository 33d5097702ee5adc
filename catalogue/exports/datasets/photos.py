"""Photos that are shown, each with the slug of its restaurant: addresses, authors and licences, without the bytes."""

from catalogue.exports.datasets.base import MOVED, OF_RESTAURANT, Column, Dataset, gone
from catalogue.exports.datasets.sql_json import an_object, or_null, value, word, word_or_null
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


def address(size: str) -> str:
    """Where the bytes of a size are."""
    return f"%(photos)s || public_id('ph', photo.id) || '/{size}.webp'"


def measures(size: str) -> tuple[str, str]:
    """Width and height of a size, as catalogue.photos.thumbnails has them."""
    width = f"least({SIZES[size]}, photo.width)"
    # In floats, which are rounded to even as Python does.
    return width, f"greatest(1, round((photo.height::bigint * {width})::float8 / photo.width))::bigint"


def size_of(name: str) -> str:
    """A size as the record has it."""
    width, height = measures(name)
    return an_object({"name": f"""'"{name}"'""", "url": value(address(name)), "width": width, "height": height})


ATTRIBUTION = "concat_ws(', ', nullif(photo.author, ''), nullif(source.attribution, ''))"
MATCHES = f"""NOT photo.is_hidden AND {OF_RESTAURANT}
AND (%(updated_since)s::timestamptz IS NULL OR photo.updated_at >= %(updated_since)s::timestamptz)
"""
OTHER_COLUMNS = tuple(
    Column(f"{name}_{what}", sql, kind)
    for name in SIZES
    for what, sql, kind in (
        ("url", address(name), "string"),
        ("width", measures(name)[0], "integer"),
        ("height", measures(name)[1], "integer"),
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
    OR restaurant.id IN (SELECT restaurant_id FROM ({MOVED}) AS moved)""",  # noqa: S608  # of constants
    record=an_object(
        {
            "id": word("public_id('ph', photo.id)"),
            "restaurant": word("restaurant.slug"),
            "url": value(address("large")),
            "sizes": " || ".join(["'['", " || ',' || ".join(size_of(name) for name in SIZES), "']'"]),
            "width": "photo.width",
            "height": "photo.height",
            "kind": value("photo.kind"),
            "caption": or_null("photo.caption"),
            "alt": value("photo.alt"),
            "author": or_null("photo.author"),
            "license": value("photo.license"),
            "review_id": word_or_null("public_id('rev', photo.review_id)"),
            "source": value("photo.source_id"),
            "attribution": value(ATTRIBUTION),
            "created_at": word("api_timestamp(photo.created_at)"),
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
    removed=gone(
        "photos",
        f"""SELECT public_id('ph', photo.id), greatest(photo.updated_at, moved.at)
        FROM catalogue_photo AS photo JOIN catalogue_restaurant AS restaurant ON restaurant.id = photo.restaurant_id
        LEFT JOIN ({MOVED}) AS moved ON moved.restaurant_id = restaurant.id
        WHERE (photo.updated_at >= %(since)s::timestamptz OR moved.at IS NOT NULL)
            AND ({MATCHES}) IS NOT TRUE""",  # noqa: S608  # of constants
    ),
)
