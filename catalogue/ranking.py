"""The order of lists."""

from datetime import datetime

from django.db import connection


def catch_up(*, now: datetime) -> None:
    """Move the restaurants whose rating or number of reviews has changed to their places. One statement."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT rank_restaurants(NULL, %s)", [now])
