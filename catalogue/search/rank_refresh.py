"""The order of lists: a rank follows the rating and the number of reviews at most once an hour.

A walk through pages must not lose its place when a rating changes. So lists are ordered by ranks, of which each row
keeps the former ones, and a page asks for those that held when its walk began (docs/decisions/0030).
"""

from datetime import datetime

from django.db import connection


def catch_up(*, now: datetime) -> None:
    """Move the restaurants whose rating or number of reviews has changed to their places, five minutes from now.

    One statement. What moved within the hour waits for the next beat, as does what somebody else is writing.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT rank_restaurants(NULL, %s)", [now])
