"""One insight by a model: its cost reserved, asked outside of transactions, written if nothing has changed since."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from time import monotonic
from uuid import UUID

from django.db import transaction

from catalogue.insights.pipeline import batch_job, cost_budget, inputs, persistence
from catalogue.insights.pipeline.cost_budget import Outcome, Refused
from catalogue.insights.pipeline.inputs import Material
from catalogue.insights.pipeline.staleness import FEWEST_REVIEWS
from catalogue.insights.providers.base import LONGEST, InsightDraft, RemoteProvider, Reply
from catalogue.insights.providers.registry import FALLBACK, Author
from catalogue.models import Insight, InsightCall, InsightDemand

logger = logging.getLogger("catalogue.insights")

# Enough to tell staff what many cost.
SAMPLE = 20


class Step(StrEnum):
    """What came of it: DONE, whoever wrote; nothing, as another was FASTER; or why the model was not asked."""

    DONE = "done"
    FASTER = "faster"
    BUSY = "busy"
    SPENT = "spent"
    AWAY = "away"


def write(restaurant: UUID, *, provider: RemoteProvider, now: datetime) -> Step:
    """Have the model write the insight of this restaurant; where it gives none, our own program does.

    Takes as long as the model, and must be called outside of any transaction. A worker that dies in it leaves a call
    that is open, which budget.end_lost closes, and nothing else: so a death costs one more call at most. What the
    model has written or declined is not asked for again.
    """
    author = Author.of(provider)
    seen = Insight.objects.filter(pk=restaurant).first()
    material = next(inputs.gather([restaurant]), None)
    if material is None:
        return Step.FASTER
    if len(material.context.reviews) < FEWEST_REVIEWS:
        return _store(material, persistence.UNTOLD, author=author, seen=seen, now=now)
    if seen and (seen.input_hash, Author.behind(seen)) == (material.digest, author):
        return _confirm(material, seen=seen, now=now)
    if cost_budget.declined(author).filter(restaurant=restaurant, input_hash=material.digest).exists():
        return _store(material, None, author=author, seen=seen, now=now)
    most = cost_budget.cost(provider.most(material.context))
    call = cost_budget.reserve(
        restaurant,
        author=author,
        digest=material.digest,
        most=most,
        is_needed=lambda: _mark(Insight.objects.filter(pk=restaurant).first()) == _mark(seen),
        now=now,
    )
    match call:
        case Refused.TAKEN:
            return Step.FASTER
        case Refused():
            return Step(call.value)
    began = monotonic()
    reply = _asked(provider, material)
    if reply.used and cost_budget.cost(reply.used) > most:
        # More than it can have used: nobody knows what it was.
        reply = replace(reply, used=None)
    ended = now + timedelta(seconds=monotonic() - began)
    return _store(material, reply.draft, author=author, seen=seen, now=ended, call=call, reply=reply)


def _asked(provider: RemoteProvider, material: Material) -> Reply:
    """What the model replies: with a draft that can be written, or an outcome that says why there is none."""
    try:
        reply = provider.ask(material.context)
    except Exception as error:
        # Whatever goes wrong, the call has to be closed and the others have to go on.
        logger.exception("No reply about restaurant %s", material.restaurant.slug)
        return Reply(outcome=Outcome.FAILED, reason=type(error).__name__)
    if reply.outcome != Outcome.WRITTEN:
        return replace(reply, draft=None)
    if reply.draft is None:
        return replace(reply, outcome=Outcome.FAILED, reason="No draft came with it.")
    if len(reply.draft.text) > LONGEST:
        return replace(reply, draft=None, outcome=Outcome.REJECTED, reason=f"More than {LONGEST} characters.")
    return reply


def _store(
    material: Material,
    draft: InsightDraft | None,
    *,
    author: Author,
    seen: Insight | None,
    now: datetime,
    call: InsightCall | None = None,
    reply: Reply | None = None,
) -> Step:
    """Close the call and write the insight, in one transaction; the latter only if all is still as it was `seen`.

    Without a draft our own program's is written, and marked as what stands in for the model.
    """
    is_instead = draft is None
    if draft is None:
        draft, author = batch_job.draft_of(material, FALLBACK), Author.of(FALLBACK)
    used = reply.used if reply else None
    with transaction.atomic():
        kept = _unchanged(material, seen=seen)
        is_current = kept is not None
        if call and reply:
            outcome, reason = (reply.outcome, reply.reason) if is_current else (Outcome.DROPPED, "")
            if not cost_budget.settle(call, outcome=outcome, reason=reason, used=used, now=now):
                return Step.FASTER
        if kept is None:
            return Step.FASTER
        before = kept[0]
        if draft is None:
            insight = persistence.failed(material, author=author, kept=before, now=now)
        else:
            paid = cost_budget.cost(used) if used and not is_instead else Decimal(0)
            insight = persistence.drafted(material, draft, author=author, kept=before, now=now, cost_usd=paid)
        insight.failed_at = now if is_instead else None
        persistence.save([insight])
        InsightDemand.objects.filter(pk=insight.pk).delete()
    return Step.DONE


def _confirm(material: Material, *, seen: Insight, now: datetime) -> Step:
    """Note that the model's text is of what is there now: nothing is asked."""
    with transaction.atomic():
        kept = _unchanged(material, seen=seen)
        if kept is None or kept[0] is None:
            return Step.FASTER
        persistence.save([persistence.counted(kept[0], material, now=now)])
        InsightDemand.objects.filter(pk=seen.pk).delete()
    return Step.DONE


def _unchanged(material: Material, *, seen: Insight | None) -> tuple[Insight | None] | None:
    """The insight as it stands, locked with its restaurant; None where it, or what it is made from, has changed."""
    place = material.restaurant.pk
    if not persistence.held([place]):
        return None
    kept = Insight.objects.select_for_update().filter(pk=place).first()
    if _mark(kept) != _mark(seen):
        return None
    fresh = next(inputs.gather([place]), None)
    if fresh is None or fresh.digest != material.digest:
        return None
    return (kept,)


def _mark(insight: Insight | None) -> tuple[object, ...] | None:
    """What differs once somebody has written it, or wants it written anew."""
    if insight is None:
        return None
    return insight.input_hash, Author.behind(insight), insight.generated_at, insight.failed_at


def most(places: Sequence[UUID], *, provider: RemoteProvider) -> Decimal:
    """What it costs in USD at most to ask about these restaurants; of many by the first SAMPLE. Three queries."""
    sample = [provider.most(material.context) for material in inputs.gather(places[:SAMPLE])]
    if not sample:
        return Decimal(0)
    of_sample = sum((cost_budget.cost(tokens) for tokens in sample), Decimal(0))
    return (of_sample * len(places) / len(sample)).quantize(cost_budget.LEAST)
