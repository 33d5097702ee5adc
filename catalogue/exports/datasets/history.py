"""The versions of restaurants, as their history shows them."""

from collections.abc import Mapping
from typing import Any

from catalogue.exports.datasets.base import CHANGED_RESTAURANTS, Dataset, select_removed, visible_condition
from catalogue.exports.datasets.fields import Column, Field, describe_rows, json_plain, json_plain_nullable, value
from catalogue.history import Operation, to_json_patch
from catalogue.history.versions import public_actor

ID = "public_id('rst', restaurant.id) || ':' || version.version"
# The clocks of two writers may differ a little.
UNTIL = "CASE WHEN following.at IS NOT NULL THEN greatest(version.at, following.at) END"
# The stored patch with the labels of its cuisines; `transforms` converts it.
PATCH = """CASE WHEN version.patch = '{}' THEN '[]' ELSE jsonb_build_object('patch', version.patch, 'labels', (
    SELECT coalesce(jsonb_object_agg(cuisine.slug, cuisine.label), '{}') FROM catalogue_cuisine AS cuisine
    WHERE cuisine.slug IN (version.patch -> 'cuisine_id' ->> 0, version.patch -> 'cuisine_id' ->> 1)
)) END"""
MATCHES = visible_condition("version.at")


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
    **describe_rows(
        *value("id", ID, "string", is_plain=True),
        *value("restaurant_id", "public_id('rst', restaurant.id)", "string", is_plain=True),
        *value("restaurant", "restaurant.slug", "string", "Slug of the restaurant, today's.", is_plain=True),
        *value("version", "version.version", "integer"),
        *value("valid_from", "version.at", "timestamp", json=json_plain(format_exact("version.at"))),
        *value(
            "valid_to",
            UNTIL,
            "timestamp or null",
            "Null: it still is.",
            json=json_plain_nullable(f"({format_exact(f'({UNTIL})')})"),
        ),
        *value("actor", "version.actor", "string", "`import:` and a source, `staff`, `system`."),
        *value("change", "version.kind", "string"),
        Field("patch", PATCH, "array of object"),
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
