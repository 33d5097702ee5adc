"""Visible photos with the slug of their restaurant: URLs, authors and licences, without the image bytes."""

from catalogue.exports.datasets.base import CHANGED_RESTAURANTS, Dataset, select_removed, visible_condition
from catalogue.exports.datasets.fields import Column, Field, describe_rows, json_object, json_value, value
from framework.images.thumbnails import SIZES


def photo_url(size: str) -> str:
    """The SQL of the URL of a size."""
    return f"%(photos)s || public_id('ph', photo.id) || '/{size}.webp'"


def scaled_size(size: str) -> tuple[str, str]:
    """The SQL of width and height of a size, as framework.images.thumbnails computes them."""
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
MATCHES = f"NOT photo.is_hidden AND {visible_condition('photo.updated_at')}"
SIZE_COLUMNS = tuple(
    Column(f"{name}_{what}", sql, kind)
    for name in SIZES
    for what, sql, kind in zip(
        ("url", "width", "height"),
        (photo_url(name), *scaled_size(name)),
        ("string", "integer", "integer"),
        strict=True,
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
    **describe_rows(
        *value("id", "public_id('ph', photo.id)", "string", is_plain=True),
        *value("restaurant", "restaurant.slug", "string", "Slug of the restaurant.", is_plain=True),
        Field("url", json_value(photo_url("large")), "string"),
        Field("sizes", " || ".join(["'['", " || ',' || ".join(map(json_size, SIZES)), "']'"]), "array of object"),
        *SIZE_COLUMNS,
        *value("width", "photo.width", "integer", "Of the original, in pixels."),
        *value("height", "photo.height", "integer", "Of the original, in pixels."),
        *value("kind", "photo.kind", "string"),
        *value("caption", "photo.caption", "string or null"),
        *value("alt", "photo.alt", "string", "What is to be seen, for those who do not see it."),
        *value("author", "photo.author", "string or null"),
        *value("license", "photo.license", "string", "SPDX identifier."),
        *value(
            "review_id",
            "public_id('rev', photo.review_id)",
            "string or null",
            "The review that it came with.",
            is_plain=True,
        ),
        *value("source", "photo.source_id", "string", "Key of the source; the manifest has its licence."),
        *value("attribution", ATTRIBUTION, "string", "Show this line with it."),
        *value("created_at", "photo.created_at", "timestamp"),
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
