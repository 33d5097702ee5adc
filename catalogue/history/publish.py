"""Publish versions: assign their positions in the change feed after they are committed."""

from django.db import connection, transaction

from framework.db.actor import set_actor
from framework.db.locks import AdvisoryLock

__all__ = ["publish_versions", "set_actor"]

FEED_LOCK = AdvisoryLock("version feed")
BATCH_SIZE = 10_000

# Numbers are assigned in the order of the ids, in whatever order rows are updated.
ASSIGN_SEQ = """
WITH unpublished AS MATERIALIZED (
    SELECT id FROM catalogue_version WHERE seq IS NULL ORDER BY id LIMIT %s FOR NO KEY UPDATE
), numbered AS MATERIALIZED (
    SELECT id, nextval('catalogue_version_feed') AS seq
    FROM (SELECT id FROM unpublished ORDER BY id OFFSET 0) AS ordered
)
UPDATE catalogue_version AS version SET seq = numbered.seq FROM numbered WHERE version.id = numbered.id
"""


def publish_versions(*, at_most: int | None = None) -> int:
    """Assign feed positions to committed versions; return how many.

    One transaction at a time assigns numbers and holds the lock until it commits, so no number becomes visible before
    a lower one. Concurrent calls return 0 at once. Two statements, and two more for each 10,000 versions.
    """
    published = 0
    while at_most is None or published < at_most:
        size = BATCH_SIZE if at_most is None else min(BATCH_SIZE, at_most - published)
        numbered = 0
        with transaction.atomic(), connection.cursor() as cursor:
            if FEED_LOCK.try_acquire():
                # A separate statement, because its snapshot must be newer than the lock.
                cursor.execute(ASSIGN_SEQ, [size])
                numbered = int(cursor.rowcount)
        published += numbered
        if numbered < size:
            break
    return published
