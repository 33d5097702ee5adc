"""The record as it was at a moment: today's row, with what came later undone."""

from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from catalogue import places
from catalogue.field_groups.core import Core, of_hours
from framework.errors import InvalidRequest, NotFound

# The patches after the moment from the newest to the oldest, and the version that was there.
READ = """
SELECT
    restaurant.id, to_jsonb(restaurant)::text, there.version, there.at,
    coalesce((
        SELECT jsonb_agg(later.patch ORDER BY later.version DESC)
        FROM catalogue_version AS later
        WHERE later.restaurant_id = restaurant.id AND later.version > there.version
    ), '[]')::text
FROM catalogue_restaurant AS restaurant
LEFT JOIN LATERAL (
    SELECT version, at FROM catalogue_version
    WHERE restaurant_id = restaurant.id AND at <= %(at)s ORDER BY version DESC LIMIT 1
) AS there ON true
WHERE restaurant.slug = %(slug)s AND restaurant.merged_into_id IS NULL AND restaurant.erased_at IS NULL
"""
RENDER = """
SELECT hours_known, before, hours, after
FROM restaurant_record(jsonb_populate_record(NULL::catalogue_restaurant, %s::jsonb))
"""


def core(slug: str, *, at: datetime, now: datetime) -> Core:
    """The free fields as they were, with the state of the hours at that moment and no offer.

    Its sources and the label of its cuisine are today's: they have no history. Two queries. Raises what identity.find
    raises, InvalidRequest for a moment that is still to come, and NotFound for one before its first version.
    """
    if at > now:
        raise InvalidRequest("`at` is a moment that has passed.", param="at")
    with connection.cursor() as cursor:
        cursor.execute(READ, {"slug": slug, "at": at})
        found = cursor.fetchone()
        if found is None:
            raise places.missing_error(slug)
        pk, row, version, since, patches = found
        if version is None:
            raise NotFound("This restaurant was not here yet at that moment.")
        then = _undone(orjson.loads(row), orjson.loads(patches))
        then |= {"version": version, "updated_at": since.isoformat()}
        cursor.execute(RENDER, [orjson.dumps(then).decode()])
        known, before, hours, after = cursor.fetchone()
    state = of_hours(hours, status=then["status"], known=known, restaurant=pk, now=at)
    return Core(restaurant=pk, before=before, hours=hours, after=after, state=state, offer=None)


def _undone(row: dict[str, Any], patches: list[dict[str, Any]]) -> dict[str, Any]:
    for patch in patches:
        row |= {column: before for column, (before, _) in patch.items()}
    return row
