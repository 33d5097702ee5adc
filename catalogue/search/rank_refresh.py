"""Refresh the ranks by which lists are sorted.

A rank follows the rating and the number of reviews at most once an hour, and each row keeps its former rank, so that
a cursor stays valid while ratings change (docs/decisions/0030).
"""

from datetime import datetime

from django.db import connection


def refresh_ranks(*, now: datetime) -> None:
    """Set new ranks, from five minutes after `now`, where the rating or the number of reviews has changed.

    One statement. Ranks that changed within the hour, and rows that another transaction has locked, wait for the next
    run.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT rank_restaurants(NULL, %s)", [now])
