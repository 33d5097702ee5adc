"""The record as of a past moment: the current row with all later patches reverted."""

from datetime import datetime

import orjson
from django.db import connection

from catalogue import places
from catalogue.field_groups.core import CoreFields, state_from_hours
from framework.db.sql_files import read_sql
from framework.errors import InvalidRequest, NotFound

READ = read_sql("catalogue", "read_version_as_of")
RENDER = """
SELECT hours_known, before, hours, after
FROM restaurant_record(jsonb_populate_record(NULL::catalogue_restaurant, %s::jsonb))
"""


def read_core_as_of(slug: str, *, at: datetime, now: datetime) -> CoreFields:
    """Return the free fields as of a moment, with the state of the hours at that moment and without an offer.

    Sources and the label of the cuisine are the current ones, because they have no history. Two queries. Raises what
    places.missing returns, InvalidRequest for a future moment, and NotFound for one before the first version.
    """
    if at > now:
        raise InvalidRequest("`at` must be in the past.", param="at")
    with connection.cursor() as cursor:
        cursor.execute(READ, {"slug": slug, "at": at})
        found = cursor.fetchone()
        if found is None:
            raise places.missing_error(slug)
        pk, row, version, since, patches = found
        if version is None:
            raise NotFound("This restaurant did not exist yet at that moment.")
        columns = orjson.loads(row)
        for patch in orjson.loads(patches):
            columns |= {column: old for column, (old, _) in patch.items()}
        columns |= {"version": version, "updated_at": since.isoformat()}
        cursor.execute(RENDER, [orjson.dumps(columns).decode()])
        known, before, hours, after = cursor.fetchone()
    state = state_from_hours(hours, status=columns["status"], known=known, restaurant=pk, now=at)
    return CoreFields(restaurant=pk, version=version, before=before, hours=hours, after=after, state=state, offer=None)
