"""Merge a cuisine into another one of the same meaning."""

from datetime import datetime

from django.db import connection, transaction
from django.db.models import ProtectedError

from catalogue.history import publish
from catalogue.models import Cuisine
from framework.errors import InvalidRequest

# Written in one transaction, which takes a second.
BATCH_SIZE = 1_000
MAX_DEPTH = 20
MAX_SYNONYM_LENGTH = 80

# The list keeps its order, and has each cuisine once.
REPLACE = """
UPDATE catalogue_restaurant SET updated_at = %(now)s,
    cuisine_id = CASE WHEN cuisine_id = %(loser)s THEN %(into)s ELSE cuisine_id END,
    cuisines = ARRAY(
        SELECT name FROM unnest(array_replace(cuisines, %(loser)s, %(into)s)) WITH ORDINALITY AS each (name, position)
        GROUP BY name ORDER BY min(position)
    )
WHERE id IN (
    SELECT id FROM catalogue_restaurant WHERE cuisine_id = %(loser)s OR cuisines @> ARRAY[%(loser)s]::varchar[]
    ORDER BY id LIMIT %(rows)s FOR UPDATE
)
"""


class CannotMergeCuisine(InvalidRequest):
    """These two cuisines cannot be merged."""


def check_merge(loser: str, *, into: str) -> None:
    """Raise CannotMergeCuisine for a cuisine itself, and for one that is narrower."""
    parents = dict(Cuisine.objects.values_list("slug", "parent_id"))
    above: str | None = into
    for _ in range(MAX_DEPTH):
        if above == loser:
            raise CannotMergeCuisine(f"`{into}` is the same or a narrower cuisine: merge the narrower one.")
        above = parents.get(above or "")


def merge_cuisine(loser: str, *, into: str, actor: str, now: datetime) -> int:
    """Give the restaurants of a cuisine the other one, and delete it; return how many restaurants have changed.

    Its slug, label and synonyms become synonyms of the other one, by which searches and imports find that, and its
    narrower cuisines become those of the other one. One transaction for each 1,000 restaurants: after a crash, call it
    again. Call it outside of transactions. Nothing happens if the cuisine does not exist. Raises CannotMergeCuisine.
    """
    with transaction.atomic():
        rows = {
            row.slug: row
            for row in Cuisine.objects.select_for_update().filter(slug__in=[loser, into]).order_by("slug")
        }
        if loser not in rows or into not in rows:
            return 0
        check_merge(loser, into=into)
        lost, survivor = rows[loser], rows[into]
        words = [*survivor.synonyms, lost.slug, lost.label, *lost.synonyms, *lost.labels.values()]
        known = (survivor.slug, survivor.label)
        fitting = (word for word in words if word not in known and len(word) <= MAX_SYNONYM_LENGTH)
        survivor.synonyms = list(dict.fromkeys(fitting))
        survivor.save(update_fields=["synonyms"])
        Cuisine.objects.filter(parent=loser).update(parent=into)
    changed = 0
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            publish.set_actor(actor)
            cursor.execute(REPLACE, {"loser": loser, "into": into, "now": now, "rows": BATCH_SIZE})
            written = int(cursor.rowcount)
        changed += written
        if written:
            continue
        try:
            Cuisine.objects.filter(slug=loser).delete()
        except ProtectedError:
            # An import has used it since.
            continue
        return changed
