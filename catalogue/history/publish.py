"""Versions of restaurants: who is writing them down, and their places in the feed of changes."""

from django.db import connection, transaction

from framework.db.actor import set_actor
from framework.db.locks import AdvisoryLock

__all__ = ["publish", "set_actor"]

FEED_LOCK = AdvisoryLock("version feed")
SLICE = 10_000

# The numbers are drawn in the order of the ids, whatever order rows are updated in.
NUMBER = """
WITH waiting AS MATERIALIZED (
    SELECT id FROM catalogue_version WHERE seq IS NULL ORDER BY id LIMIT %s FOR NO KEY UPDATE
), numbered AS MATERIALIZED (
    SELECT id, nextval('catalogue_version_feed') AS seq FROM (SELECT id FROM waiting ORDER BY id OFFSET 0) AS ordered
)
UPDATE catalogue_version AS version SET seq = numbered.seq FROM numbered WHERE version.id = numbered.id
"""


def publish(*, at_most: int | None = None) -> int:
    """Give the versions that were committed their places in the feed; how many these were.

    Who has read the feed up to a number has missed nothing below it: one at a time gives numbers, and its lock goes
    with its commit, so that no number is seen before the ones below it. Others leave at once with 0. Two statements,
    and two more for each 10,000.
    """
    published = 0
    while at_most is None or published < at_most:
        size = SLICE if at_most is None else min(SLICE, at_most - published)
        numbered = _publish_some(size)
        published += numbered
        if numbered < size:
            break
    return published


def _publish_some(size: int) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        if not FEED_LOCK.try_acquire():
            return 0
        # A statement of its own: its snapshot must be younger than the lock.
        cursor.execute(NUMBER, [size])
        return int(cursor.rowcount)
