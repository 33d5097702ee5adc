"""Streets, postal codes and neighborhoods that addresses of the catalogue state: each is the center of its places."""

from django.db import connection

from catalogue.search.geocoding.resolved_place import ResolvedPlace
from framework.db.sql_files import read_sql

MAX_AREAS = 6
MIN_STREET_LENGTH = 5
FIND_AREAS = read_sql("catalogue", "find_areas")


def find_areas(name: str, *, market: str | None) -> list[tuple[ResolvedPlace, int]]:
    """Return the areas of this name, one of each market, with their numbers of restaurants, the largest first.

    Neighborhoods, otherwise postal codes, otherwise streets. One query.
    """
    parameters = {"name": name, "market": market, "min_length": MIN_STREET_LENGTH, "max_rows": MAX_AREAS}
    with connection.cursor() as cursor:
        cursor.execute(FIND_AREAS, parameters)
        rows = cursor.fetchall()
    return [
        (ResolvedPlace(None, label, kind, area, lat, lng, city=city, country=country), count)
        for kind, area, lat, lng, label, count, city, country in rows
        if kind == rows[0][0]
    ]
