"""The versions of restaurants, as their history shows them."""

from collections.abc import Mapping
from typing import Any

from catalogue.exports.datasets.base import CHANGED_RESTAURANTS, VISIBLE_RESTAURANT, Column, Dataset, select_removed
from catalogue.exports.datasets.sql_json import json_object, json_plain, json_plain_nullable, json_value
from catalogue.history import Operation, to_json_patch
from catalogue.history.versions import public_actor

SCHEMA = {
    "id": "string",
    "restaurant_id": "string",
    "restaurant": "string",
    "version": "integer",
    "valid_from": "timestamp",
    "valid_to": "timestamp or null",
    "actor": "string",
    "change": "string",
    "patch": "array of object",
}

ID = "public_id('rst', restaurant.id) || ':' || version.version"
# The clocks of two writers may differ a little.
UNTIL = "CASE WHEN following.at IS NOT NULL THEN greatest(version.at, following.at) END"
# The stored patch with the labels of its cuisines; `transforms` converts it.
PATCH = """CASE WHEN version.patch = '{}' THEN '[]' ELSE jsonb_build_object('patch', version.patch, 'labels', (
    SELECT coalesce(jsonb_object_agg(cuisine.slug, cuisine.label), '{}') FROM catalogue_cuisine AS cuisine
    WHERE cuisine.slug IN (version.patch -> 'cuisine_id' ->> 0, version.patch -> 'cuisine_id' ->> 1)
)) END"""
MATCHES = f"""{VISIBLE_RESTAURANT}
AND (%(updated_since)s::timestamptz IS NULL OR version.at >= %(updated_since)s::timestamptz)
"""


def format_exact(moment: str) -> str:
    """Format a timestamp with microseconds, as JSON has it: two versions may lie within one second."""
    second = f"to_char({moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS')"
    rest = f"CASE WHEN date_trunc('second', {moment}) <> {moment} THEN to_char({moment}, '.US') ELSE '' END"
    return f"{second} || {rest} || 'Z'"


def convert_patch(stored: Any) -> list[Operation]:
    """Convert a stored patch to the operations that the API shows."""
    if not isinstance(stored, Mapping):
        return []
    labels = stored["labels"]
    return to_json_patch(stored["patch"], label=lambda slug: labels.get(slug, slug))


DATASET = Dataset(
    key="version.id",
    key_type="bigint",
    order="in which the versions were stored",
    rows="""catalogue_version AS version
JOIN catalogue_restaurant AS restaurant ON restaurant.id = version.restaurant_id
LEFT JOIN catalogue_version AS following
    ON following.restaurant_id = version.restaurant_id AND following.version = version.version + 1""",
    matches=MATCHES,
    changed=f"""version.updated_at >= %(since)s::timestamptz OR following.updated_at >= %(since)s::timestamptz
    OR restaurant.id IN (SELECT restaurant_id FROM ({CHANGED_RESTAURANTS}) AS moved)
    OR version.patch ? 'cuisine_id'
        AND EXISTS (SELECT FROM catalogue_cuisine WHERE updated_at >= %(since)s::timestamptz)""",  # noqa: S608  # of constants
    record=json_object(
        {
            "id": json_plain(ID),
            "restaurant_id": json_plain("public_id('rst', restaurant.id)"),
            "restaurant": json_plain("restaurant.slug"),
            "version": "version.version",
            "valid_from": json_plain(format_exact("version.at")),
            "valid_to": json_plain_nullable(f"({format_exact(f'({UNTIL})')})"),
            "actor": json_value("version.actor"),
            "change": json_value("version.kind"),
            "patch": PATCH,
        }
    ),
    schema=SCHEMA,
    columns=(
        Column("id", ID, "string"),
        Column("restaurant_id", "public_id('rst', restaurant.id)", "string"),
        Column("restaurant", "restaurant.slug", "string", "Slug of the restaurant, today's."),
        Column("version", "version.version", "integer"),
        Column("valid_from", "version.at", "timestamp"),
        Column("valid_to", UNTIL, "timestamp or null", "Null: it still is."),
        Column("actor", "version.actor", "string", "`import:` and a source, `staff`, `system`."),
        Column("change", "version.kind", "string"),
        Column("patch", f"({PATCH})::text", "string", "JSON Patch (RFC 6902) with the old values."),
    ),
    # A version has no source of its own; the current sources of the restaurant apply.
    sources="(SELECT held.sources FROM catalogue_record AS held WHERE held.restaurant_id = restaurant.id)",
    versions=(
        "version.xmin",
        "following.xmin",
        "restaurant.xmin",
        "(SELECT held.xmin FROM catalogue_record AS held WHERE held.restaurant_id = restaurant.id)",
        "(SELECT cuisine.xmin FROM catalogue_cuisine AS cuisine ORDER BY age(cuisine.xmin) LIMIT 1)",
    ),
    removed=select_removed(
        "history",
        f"""SELECT {ID}, greatest(version.updated_at, moved.at)
        FROM catalogue_version AS version
        JOIN catalogue_restaurant AS restaurant ON restaurant.id = version.restaurant_id
        LEFT JOIN ({CHANGED_RESTAURANTS}) AS moved ON moved.restaurant_id = restaurant.id
        WHERE (version.updated_at >= %(since)s::timestamptz OR moved.at IS NOT NULL)
            AND ({MATCHES}) IS NOT TRUE""",  # noqa: S608  # of constants
    ),
    transforms={"actor": public_actor, "patch": convert_patch},
)
