"""Insights by a program of our own: batches that are each whole, and one at the moment somebody wants to buy it."""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction

from catalogue.insights.pipeline import inputs, persistence
from catalogue.insights.pipeline.inputs import Material
from catalogue.insights.pipeline.staleness import FEWEST_REVIEWS
from catalogue.insights.providers.base import LONGEST, InsightDraft, InsightProvider
from catalogue.insights.providers.registry import Author
from catalogue.models import Insight, InsightDemand
from framework.db.locks import AdvisoryLock

logger = logging.getLogger("catalogue.insights")

# PostgreSQL ends a transaction that idles for 10 s; a thousand reviews are read in a third of one.
BATCH = 1_000
REFRESH_LOCK = AdvisoryLock("insight refresh")


def write(
    found: Iterable[tuple[UUID, int]],
    *,
    now: datetime,
    at_most: int,
    provider: InsightProvider,
    accepted: Collection[Author] = (),
    keeps_demand: bool = False,
) -> int:
    """Write the insights of these restaurants, each with how many reviews it has; how many that were.

    Stops after about `at_most` reviews, so 0 says that there were none or that another worker is at it: one does this
    at a time. Each batch is a short transaction, in which the provider runs; what it, or one of the `accepted`, has
    made of the same input is confirmed. Where it fails that is logged and noted, and the others go on. 7 ms a
    restaurant of 28 reviews.
    """
    done = 0
    for batch in _batches(found, at_most):
        with transaction.atomic():
            if not REFRESH_LOCK.try_acquire():
                break
            done += _write(
                persistence.held(batch), now=now, provider=provider, accepted=accepted, keeps_demand=keeps_demand
            )
    return done


def write_one(restaurant: UUID, *, now: datetime, provider: InsightProvider) -> bool:
    """Write the insight of this restaurant at once, unless somebody else holds it; whether it was.

    One short transaction of seven statements; a quarter of a millisecond a review.
    """
    with transaction.atomic():
        return _write(persistence.held([restaurant], unless_busy=True), now=now, provider=provider) > 0


def draft_of(material: Material, provider: InsightProvider) -> InsightDraft | None:
    """What the provider makes of it; None where it fails, whatever the reason, for the others have to go on."""
    # The restaurant counts more than there are, or has lost some since it was found to be due.
    if len(material.context.reviews) < FEWEST_REVIEWS:
        return persistence.UNTOLD
    try:
        draft = provider.generate(material.context)
        if len(draft.text) > LONGEST:
            raise ValueError(f"The text has {len(draft.text)} characters, more than {LONGEST}.")
    except Exception:
        logger.exception("No insight of restaurant %s (%s)", material.restaurant.slug, material.restaurant.pk)
        return None
    return draft


def _batches(found: Iterable[tuple[UUID, int]], at_most: int) -> Iterator[list[UUID]]:
    batch: list[UUID] = []
    reviews = total = 0
    for pk, count in found:
        batch.append(pk)
        reviews += min(count, inputs.MOST_REVIEWS)
        if reviews >= BATCH:
            yield batch
            total += reviews
            if total >= at_most:
                return
            batch, reviews = [], 0
    if batch:
        yield batch


def _write(
    places: Sequence[UUID],
    *,
    now: datetime,
    provider: InsightProvider,
    accepted: Collection[Author] = (),
    keeps_demand: bool = False,
) -> int:
    """Write the insights of these restaurants, which are held."""
    author = Author.of(provider)
    # Who asks for one of these to be written anew waits for us, and is not overlooked.
    before = Insight.objects.select_for_update().order_by("pk").in_bulk(places)
    made = []
    for material in inputs.gather(places):
        kept = before.get(material.restaurant.pk)
        if kept and kept.input_hash == material.digest and Author.behind(kept) in {author, *accepted}:
            made.append(persistence.counted(kept, material, now=now))
        elif draft := draft_of(material, provider):
            made.append(persistence.drafted(material, draft, author=author, kept=kept, now=now))
        else:
            made.append(persistence.failed(material, author=author, kept=kept, now=now))
    persistence.save(made)
    if not keeps_demand:
        written = [insight.pk for insight in made if insight.failed_at is None]
        InsightDemand.objects.filter(pk__in=written).delete()
    return len(made)
